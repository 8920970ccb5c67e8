import type { FastifyRequest } from 'fastify'
import type { LoggerOptions } from 'pino'

/**
 * Credentials and order ids, which may appear anywhere in a log line: in a URL, an error's message or stack, a database
 * error. Whoever has an order's URI can use the order. Eight characters of its id stay in the log: enough to find the
 * order, not enough to use it. Request ids and product ids may look like UUIDs too; they stay whole.
 */
const secrets: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/(\/order\/[^/?#"\\\s<>:]{8})[^/?#"\\\s<>]+/g, '$1…'],
  [/(?<!"reqId":"|\/product\/)\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '$1…'],
  [/\btp_[A-Za-z0-9_-]+/g, 'tp_…'],
  [/\b(Bearer|Basic) +[A-Za-z0-9+/=._~-]+/gi, '$1 …'],
  [/\b(tradepost-session)=[^;"\\\s]+/g, '$1=…']
]

export function maskSecrets(line: string): string {
  return secrets.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), line)
}

/** Decodes a URL as the router does, so that percent-encoding hides no order id from the mask. */
function decoded(url: string): string {
  try {
    return url.includes('%') ? decodeURIComponent(url) : url
  } catch {
    return url
  }
}

/** pino's options. No log line contains a credential or the complete URI of an order. */
export function loggerOptions(level: string): LoggerOptions {
  return {
    level,
    hooks: { streamWrite: maskSecrets },
    // Header fields carry secrets: Authorization, Cookie, Idempotency-Key.
    redact: { paths: ['headers', '*.headers'], censor: '…' },
    serializers: {
      req: (request: FastifyRequest) => ({
        method: request.method,
        url: decoded(request.url),
        host: request.host,
        remoteAddress: request.ip,
        userAgent: request.headers['user-agent']
      })
    }
  }
}
