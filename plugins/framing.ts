import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { refuseConnect } from '../http/client-errors.ts'
import { Problem } from '../http/problem.ts'

/** Why a request target was not taken; what is routed in its place leads nowhere. */
const refusals = new WeakMap<object, Problem>()
/** `OPTIONS *`: about the server, not about a resource (RFC 9110 section 9.3.7). */
const aboutServer = new WeakSet<object>()

/** What a URI may hold as it is (RFC 3986): unreserved, sub-delims, and what separates a path's and a query's parts. */
const plain = /^[A-Za-z0-9._~!$&'()*+,;=:@/?-]*$/
const notPlain = /[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]/g
const absoluteForm = /^https?:\/\/[^/?#]+/i

function refuse(detail: string): Problem {
  return new Problem('malformed-request', detail)
}

/** Percent-encoded unreserved characters are the same as bare ones (RFC 3986 section 6.2.2.2): one URI, one spelling. */
function spell(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
  return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase()
}

/**
 * The origin-form of a request target, in the one spelling that links and caches use; or why it is refused.
 * @param maxLength in bytes
 */
export function readTarget(target: string, maxLength: number): string | Problem {
  if (Buffer.byteLength(target, 'latin1') > maxLength)
    return new Problem('uri-too-long', `The request target is longer than ${maxLength} bytes.`)
  // The authority that an absolute-form names in place of Host (RFC 9112 section 3.2.2) changes nothing here.
  const found = target.replace(absoluteForm, '')
  const origin = found.startsWith('/') ? found : found === '' || found.startsWith('?') ? `/${found}` : undefined
  if (origin === undefined) return refuse('The request target must be a path, or an http URL.')
  if (plain.test(origin)) return origin
  if (origin.includes('#')) return refuse('The request target has a fragment, which is for the client only.')
  try {
    if (decodeURIComponent(origin).includes('\0')) return refuse('The request target has a NUL character.')
  } catch {
    return refuse('The request target has a percent sign that starts no UTF-8 character.')
  }
  return origin.replace(notPlain, encodeURIComponent).replace(/%[0-9A-Fa-f]{2}/g, spell)
}

/** For Fastify's rewriteUrl: what is routed. A refused target is routed to the root, where the plugin below refuses it. */
export function targetReader({ BASE_URL, MAX_URL_LENGTH }: Config) {
  const root = `${BASE_URL.path}/`
  return (request: IncomingMessage): string => {
    if (request.url === '*' && request.method === 'OPTIONS') {
      aboutServer.add(request)
      return root
    }
    const read = readTarget(request.url ?? '', MAX_URL_LENGTH)
    if (typeof read === 'string') return read
    refusals.set(request, read)
    return root
  }
}

const host = /^(?:(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/

/** Fields of which two lines mean that two readers may see two requests. */
const single = ['host', 'content-type', 'authorization', 'idempotency-key']

function checkFields({ httpVersionMajor, httpVersionMinor, rawHeaders, headers }: IncomingMessage): void {
  const faulty = (detail: string) => new Problem('malformed-request', detail, { headers: { connection: 'close' } })
  if (httpVersionMajor !== 1)
    throw new Problem('version-not-supported', 'This speaks HTTP/1.1 and HTTP/1.0.', { headers: { connection: 'close' } })
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!single.includes(name)) continue
    if (seen.has(name)) throw faulty(`The request has more than one ${rawHeaders[i]} line.`)
    seen.add(name)
  }
  // RFC 9112 section 3.2; an http URI has a host that is not empty (RFC 9110 section 4.2.1).
  if (headers.host === undefined ? httpVersionMinor > 0 : !host.test(headers.host)) throw faulty('The request has no valid Host.')
  const coding = headers['transfer-encoding']
  if (coding === undefined) return
  // RFC 9112 section 6.1: HTTP/1.0 has no transfer codings, so nobody can know where such a body ends.
  if (httpVersionMinor === 0) throw faulty('An HTTP/1.0 request cannot have a Transfer-Encoding.')
  if (coding.trim() === '') throw faulty('The Transfer-Encoding names no coding.')
  if (coding.trim().toLowerCase() !== 'chunked') {
    throw new Problem('not-implemented', `The transfer coding ${JSON.stringify(coding)} is not read here: send chunked.`, {
      headers: { connection: 'close' }
    })
  }
}

/** How much of a body that nobody wants is read and thrown away, as a multiple of BODY_LIMIT, so that the client sees its answer. */
const patience = 4

/** What RFC 9112 wants of every request, whatever it asks for: target, Host, framing. */
export default fp(
  async function framing(app: FastifyInstance, { config }: { config: Config }) {
    refuseConnect(app.server, config)

    app.addHook('onRequest', async ({ raw }, reply) => {
      checkFields(raw)
      const refusal = refusals.get(raw)
      if (refusal) throw refusal
      if (aboutServer.has(raw)) return reply.code(204).header('allow', 'GET, HEAD, POST, PUT, DELETE, OPTIONS').send()
    })

    // Closing at once would reset the connection under a client that is still sending, and lose it the answer (RFC 9112 section 9.6).
    app.addHook('onSend', async ({ raw }: FastifyRequest) => {
      if (raw.complete) return
      let left = patience * config.BODY_LIMIT
      raw.on('data', (chunk: Buffer) => {
        left -= chunk.length
        if (left < 0) raw.destroy()
      })
    })
  },
  { name: 'framing', fastify: '5.x', dependencies: ['draining', 'problems'] }
)
