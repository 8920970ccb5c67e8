import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'
import { Problem, uriTooLong } from './problem.ts'

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

function refusal(detail: string): Problem {
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
  if (Buffer.byteLength(target, 'latin1') > maxLength) return uriTooLong(maxLength)
  // The authority of an absolute-form replaces Host (RFC 9112 section 3.2.2), but the service does not depend on it.
  const found = target.replace(absoluteForm, '')
  const origin = found.startsWith('/') ? found : found === '' || found.startsWith('?') ? `/${found}` : undefined
  if (origin === undefined) return refusal('The request target must be a path or an http URL.')
  if (origin.split('&', maxParameters + 1).length > maxParameters) return refusal(`The query has more than ${maxParameters} parameters.`)
  if (plain.test(origin)) return origin
  if (origin.includes('#')) return refusal('The request target has a fragment. Send the URI without "#" and what follows it.')
  try {
    if (decodeURIComponent(origin).includes('\0')) return refusal('The request target contains a NUL character.')
  } catch {
    return refusal('The request target has a percent sign that does not start a UTF-8 character.')
  }
  return origin.replace(notPlain, encodeURIComponent).replace(/%[0-9A-Fa-f]{2}/g, normalizeOctet)
}

/** Makes Fastify's rewriteUrl. An invalid target is routed to the root, where plugins/framing refuses it. */
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

/** The problem of a request target that `targetReader` could not read. */
export function targetRefusal(request: IncomingMessage): Problem | undefined {
  return refusals.get(request)
}

/** Whether the request is `OPTIONS *`. */
export function isAboutServer(request: IncomingMessage): boolean {
  return aboutServer.has(request)
}
