import { hash } from 'node:crypto'
import { keyNeededDetail, signedOutDetail } from '../representations/sign-in.ts'
import { Problem } from './problem.ts'

const bearer = 'Bearer realm="tradepost"'

/** The header that every 401 must have (RFC 9110 section 15.5.2). */
const challenge = { 'www-authenticate': `${bearer}, Basic realm="tradepost", charset="UTF-8"` }

/** The page links to the sign-in page. With Basic in the challenge, a browser would ask for a password instead. */
export const pageChallenge = { 'www-authenticate': bearer }

export function unauthenticated(detail: string): Problem {
  return new Problem('unauthenticated', detail, { headers: challenge })
}

export function keyNeeded(): Problem {
  return unauthenticated(keyNeededDetail)
}

export function signedOut(): Problem {
  return unauthenticated(signedOutDetail)
}

/** The API key in an Authorization header: a Bearer token, or a Basic password. An unknown scheme gives an empty key. */
export function shownKey(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S.*)$/.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() === 'bearer') return credentials.trim()
  if (scheme.toLowerCase() !== 'basic') return ''
  const decoded = Buffer.from(credentials, 'base64').toString('utf8')
  return decoded.slice(decoded.indexOf(':') + 1)
}

/** The SHA-256 under which a key is stored. Comparing digests instead of keys avoids timing attacks (CWE-208). */
export function hashKey(key: string): string {
  return hash('sha256', key)
}

/** The hash of the API key in an Authorization header. */
export function shownKeyHash(authorization: string | undefined): string | undefined {
  const shown = shownKey(authorization)
  return shown === undefined ? undefined : hashKey(shown)
}
