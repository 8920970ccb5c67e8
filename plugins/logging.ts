import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { LoggerOptions } from 'pino'

export { RequestLog } from './logging/requests.ts'

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

/** The names for networks that Fastify's own `trustProxy` knows. */
const networks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
}

function family(address: string): 'ipv4' | 'ipv6' | undefined {
  return isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined
}

function listOf(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const [address = '', prefix] of addresses.flatMap((one) => networks[one] ?? one).map((one) => one.split('/'))) {
    const kind = family(address)
    if (kind) list.addSubnet(address, prefix === undefined ? (kind === 'ipv4' ? 32 : 128) : Number(prefix), kind)
  }
  return list
}

const saneId = /^[A-Za-z0-9._:=+-]{1,128}$/

/**
 * Names each request: as a trusted proxy named it in X-Request-Id, so that its log and this one tell one story; anybody
 * else's idea of a name is not taken. Not a UUID, which would look like an order's id.
 */
export function makeRequestIds(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = listOf(trustedProxies)
  return (request) => {
    const given = request.headers['x-request-id']
    const from = request.socket?.remoteAddress ?? ''
    const kind = family(from)
    if (typeof given === 'string' && saneId.test(given) && kind && trusted.check(from, kind)) return given
    return randomBytes(12).toString('hex')
  }
}

/** Every answer tells the request's id, which finds it in the log. Registered first, so that refusals tell it too. */
export default fp(
  async function logging(app: FastifyInstance) {
    app.decorateRequest('refusal', undefined)
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-request-id', request.id)
    })
  },
  { name: 'logging', fastify: '5.x' }
)
