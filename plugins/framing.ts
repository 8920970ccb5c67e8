import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { refuseConnect } from '../http/client-errors.ts'
import { checking, checkingPayload } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'

/** The problems of refused request targets, by request. They are thrown once the request is routed. */
const refusals = new WeakMap<object, Problem>()
/** Requests with `OPTIONS *`, which ask about the server and not about a resource (RFC 9110 section 9.3.7). */
const aboutServer = new WeakSet<object>()

/** Characters that need no percent-encoding in a path and query (RFC 3986): unreserved, sub-delims and separators. */
const plain = /^[A-Za-z0-9._~!$&'()*+,;=:@/?-]*$/
const notPlain = /[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]/g
const absoluteForm = /^https?:\/\/[^/?#]+/i

/** The most parameters of a query. Each costs more to parse and to refuse than its bytes. */
const maxParameters = 1_000

function refuse(detail: string): Problem {
  return new Problem('malformed-request', detail)
}

/** Decodes percent-encoded unreserved characters, so that each URI has one spelling (RFC 3986 section 6.2.2.2). */
function normalizeOctet(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
  return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase()
}

/**
 * Normalizes a request target to origin-form, in the same spelling as in links and caches. Returns a problem if it is invalid.
 * @param maxLength in bytes
 */
export function readTarget(target: string, maxLength: number): string | Problem {
  if (Buffer.byteLength(target, 'latin1') > maxLength)
    return new Problem('uri-too-long', `The request target is longer than ${maxLength} bytes.`)
  // The authority of an absolute-form replaces Host (RFC 9112 section 3.2.2), but the service does not depend on it.
  const found = target.replace(absoluteForm, '')
  const origin = found.startsWith('/') ? found : found === '' || found.startsWith('?') ? `/${found}` : undefined
  if (origin === undefined) return refuse('The request target must be a path or an http URL.')
  if (origin.split('&', maxParameters + 1).length > maxParameters) return refuse(`The query has more than ${maxParameters} parameters.`)
  if (plain.test(origin)) return origin
  if (origin.includes('#')) return refuse('The request target has a fragment. Send the URI without "#" and what follows it.')
  try {
    if (decodeURIComponent(origin).includes('\0')) return refuse('The request target contains a NUL character.')
  } catch {
    return refuse('The request target has a percent sign that does not start a UTF-8 character.')
  }
  return origin.replace(notPlain, encodeURIComponent).replace(/%[0-9A-Fa-f]{2}/g, normalizeOctet)
}

/** Makes Fastify's rewriteUrl. An invalid target is routed to the root, where the plugin below refuses it. */
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

/** Fields that may occur only once. With two, a proxy and this service could read different requests. */
const singletonFields = ['host', 'content-type', 'authorization', 'idempotency-key']

/** Few other fields have a name of these lengths, so most need no further look. */
const singletonLengths: ReadonlySet<number> = new Set(singletonFields.map(({ length }) => length))

function faulty(detail: string): Problem {
  return new Problem('malformed-request', detail, { headers: { connection: 'close' } })
}

function checkSingletons(rawHeaders: readonly string[]): void {
  const seen: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] ?? ''
    if (!singletonLengths.has(sent.length)) continue
    const name = sent.toLowerCase()
    if (!singletonFields.includes(name)) continue
    if (seen.includes(name)) throw faulty(`The request has more than one ${sent} header.`)
    seen.push(name)
  }
}

function checkFields({ httpVersionMajor, httpVersionMinor, rawHeaders, headers }: IncomingMessage): void {
  if (httpVersionMajor !== 1)
    throw new Problem('version-not-supported', 'The service supports HTTP/1.1 and HTTP/1.0 only.', { headers: { connection: 'close' } })
  checkSingletons(rawHeaders)
  // HTTP/1.1 requires Host (RFC 9112 section 3.2), and the host of an http URI is not empty (RFC 9110 section 4.2.1).
  if (headers.host === undefined ? httpVersionMinor > 0 : !host.test(headers.host)) throw faulty('The request has no valid Host header.')
  const coding = headers['transfer-encoding']
  if (coding === undefined) return
  // HTTP/1.0 has no transfer codings, so the end of such a body is unknown (RFC 9112 section 6.1).
  if (httpVersionMinor === 0) throw faulty('An HTTP/1.0 request must not have a Transfer-Encoding.')
  if (coding.trim() === '') throw faulty('The Transfer-Encoding names no coding.')
  if (coding.trim().toLowerCase() !== 'chunked') {
    throw new Problem('not-implemented', `The transfer coding ${JSON.stringify(coding)} is not supported. Send chunked.`, {
      headers: { connection: 'close' }
    })
  }
}

/** After a refusal, up to this multiple of BODY_LIMIT is read and discarded, so that the client can read the response. */
const maxDiscardFactor = 4

/** Checks what RFC 9112 requires of every request: target, Host and framing. */
export default fp(
  async function framing(app: FastifyInstance, { config }: { config: Config }) {
    refuseConnect(app.server, config)

    app.addHook(
      'onRequest',
      checking(({ raw }) => {
        checkFields(raw)
        const refusal = refusals.get(raw)
        if (refusal) throw refusal
      })
    )
    app.addHook('onRequest', ({ raw }, reply, done) => {
      if (aboutServer.has(raw)) reply.code(204).header('allow', 'GET, HEAD, POST, PUT, DELETE, OPTIONS').send()
      else done()
    })

    // Closing at once would reset a client that is still sending, and it would lose the response (RFC 9112 section 9.6).
    app.addHook(
      'onSend',
      checkingPayload((request) => {
        const { raw, network } = request
        if (raw.complete) return
        let remaining = maxDiscardFactor * config.BODY_LIMIT
        raw.on('data', (chunk: Buffer) => {
          remaining -= chunk.length
          if (remaining < 0) raw.destroy()
        })
        app.paceReads(network, request, raw)
      })
    )
  },
  { name: 'framing', fastify: '5.x', dependencies: ['draining', 'problems', 'scheduling'] }
)
