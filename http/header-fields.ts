import type { IncomingMessage } from 'node:http'
import { Problem } from './problem.ts'

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

/**
 * Checks what RFC 9112 requires of the header section.
 * @throws Problem `malformed-request`, `version-not-supported`, `not-implemented`
 */
export function checkFields({ httpVersionMajor, httpVersionMinor, rawHeaders, headers }: IncomingMessage): void {
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
