import { Problem } from './problem.ts'

export const longestKey = 255

/** Characters of a guest's key. All guests share one scope: anybody who guesses a guest's key and order gets the order's URI. */
export const shortestGuestKey = 16

/**
 * Reads an Idempotency-Key header, bare or as the structured string that the draft wants.
 * @throws Problem `malformed-request`
 */
export function readIdempotencyKey(header: string, isGuest: boolean): string {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)
  const key = quoted ? (quoted[1] ?? '').replace(/\\(.)/g, '$1') : header
  if (!/^[\x20-\x7e]+$/.test(key) || key.length > longestKey || (!quoted && /^"|"$/.test(header))) {
    throw new Problem('malformed-request', `Idempotency-Key must be 1 to ${longestKey} printable ASCII characters, quoted or bare.`)
  }
  if (!isGuest || key.length >= shortestGuestKey) return key
  throw new Problem(
    'malformed-request',
    `Without an API key, an Idempotency-Key must have ${shortestGuestKey} characters or more that nobody can guess, such as a UUID: whoever sends the same key and document is answered with your order.`
  )
}
