import type { FastifyRequest } from 'fastify'
import type { LoggerOptions } from 'pino'

/**
 * What lets one act as somebody, or on somebody's order, wherever in a line of the log it may be: in a URL, an error's
 * message or stack, a database's complaint. An order's URI is a capability: eight characters of its id are enough to find
 * the order, and not enough to use it. The ids of requests and products may be UUIDs, too.
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

/** A URL as the router reads it: an id behind percent-encoding is an id. */
function decoded(url: string): string {
  try {
    return url.includes('%') ? decodeURIComponent(url) : url
  } catch {
    return url
  }
}

/** pino's options: whatever a line is made of, no credential and no order's whole URI leaves the process by it. */
export function loggerOptions(level: string): LoggerOptions {
  return {
    level,
    hooks: { streamWrite: maskSecrets },
    // Authorization, Cookie, Idempotency-Key: no line needs any of them.
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
