import { createHash } from 'node:crypto'

/** Every 401 says how to do better (RFC 9110 section 15.5.2). */
export const challenge = { 'www-authenticate': 'Bearer realm="tradepost", Basic realm="tradepost", charset="UTF-8"' }

/** The API key that a request shows: as Bearer token, or as the password of Basic for clients that know only that. */
export function shownKey(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S.*)$/.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() === 'bearer') return credentials.trim()
  if (scheme.toLowerCase() !== 'basic') return ''
  const decoded = Buffer.from(credentials, 'base64').toString('utf8')
  return decoded.slice(decoded.indexOf(':') + 1)
}

/** The SHA-256 by which a key is stored and found: what is compared is a digest, never the key (CWE-208). */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
