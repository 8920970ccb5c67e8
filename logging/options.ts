import type { FastifyRequest } from 'fastify'
import { type LoggerOptions, stdSerializers } from 'pino'
import { keyPrefix, ordersSorting, sessionCookie } from '../http/masked-names.ts'

interface Secret {
  readonly hint: string | RegExp
  readonly pattern: RegExp
  readonly replacement: string
}

/** A cursor of `/orders` begins like this. It is base64, and the name of the sorting has a length that is a multiple of 3. */
const ordersCursor = Buffer.from(ordersSorting).toString('base64url')

function beginningWith(beginning: string): Secret {
  return { hint: beginning, pattern: new RegExp(`\\b${beginning}[A-Za-z0-9_-]+`, 'g'), replacement: `${beginning}…` }
}

/**
 * Credentials and order ids, which may appear anywhere in a log line: in a URL, an error's message or stack, a database
 * error. Whoever has an order's URI can use the order, so only eight characters of its id stay in the log, by which it can be
 * found. Request ids and product ids may look like UUIDs too; they stay whole.
 *
 * A line without the hint has no such secret. To search for hints takes a tenth of the time.
 */
const secrets: readonly Secret[] = [
  { hint: '/order/', pattern: /(\/order\/[^/?#"\\\s<>:]{8})[^/?#"\\\s<>]+/g, replacement: '$1…' },
  {
    hint: /-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i,
    pattern: /(?<!"reqId":"|\/product\/)\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
    replacement: '$1…'
  },
  beginningWith(ordersCursor),
  beginningWith(keyPrefix),
  { hint: /B(?:earer|asic) /i, pattern: /\b(Bearer|Basic) +[A-Za-z0-9+/=._~-]+/gi, replacement: '$1 …' },
  // The cookie's name ends with the base path of the shop.
  { hint: sessionCookie, pattern: new RegExp(`\\b(${sessionCookie}[^=;"\\\\\\s]*)=[^;"\\\\\\s]+`, 'g'), replacement: '$1=…' }
]

export function maskSecrets(line: string): string {
  let masked = line
  for (const { hint, pattern, replacement } of secrets) {
    if (typeof hint === 'string' ? masked.includes(hint) : hint.test(masked)) masked = masked.replace(pattern, replacement)
  }
  return masked
}

/** Decodes a URL as the router does, so that percent-encoding hides no order id from the mask. */
function decoded(url: string): string {
  try {
    return url.includes('%') ? decodeURIComponent(url) : url
  } catch {
    return url
  }
}

/** The most characters of a header field's value in the log. Callers choose them. */
const maxFieldValue = 256

/** The properties of a request that its log line has. */
export type LoggedRequest = Pick<FastifyRequest, 'method' | 'url' | 'host' | 'ip'> & {
  readonly headers: { readonly 'user-agent'?: string | undefined }
}

/** pino's options. No log line contains a credential or the complete URI of an order. */
export function loggerOptions(level: string): LoggerOptions {
  return {
    level,
    hooks: { streamWrite: maskSecrets },
    serializers: {
      req: (request: LoggedRequest) => ({
        method: request.method,
        url: decoded(request.url),
        host: request.host.slice(0, maxFieldValue),
        remoteAddress: request.ip,
        userAgent: request.headers['user-agent']?.slice(0, maxFieldValue)
      }),
      // Header fields carry secrets: Authorization, Cookie, Idempotency-Key.
      headers: () => '…',
      err: (error: Error) => ({ ...withTextCause(error), headers: undefined })
    }
  }
}

/**
 * Pino adds the messages of causes only if these are errors. The stores give causes as text. The error of a host with several
 * addresses has no message of its own: only its parts have one.
 */
function withTextCause(error: Error) {
  const serialized = stdSerializers.err(error)
  let last = error
  while (last.cause instanceof Error) last = last.cause
  const parts = last instanceof AggregateError && last.message === '' ? last.errors.map((one) => (one as Error).message).join(', ') : ''
  const cause = typeof last.cause === 'string' ? last.cause : parts
  return cause === '' ? serialized : { ...serialized, message: `${serialized.message.replace(/: $/, '')}: ${cause}` }
}
