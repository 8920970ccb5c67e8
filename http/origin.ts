import type { FastifyRequest } from 'fastify'

/**
 * Finds out whether a page of this site sent the request. Browsers send Sec-Fetch-Site, which pages cannot set. Over plain HTTP they
 * send only Origin, which is compared with BASE_URL and with Host. A sandbox sends `Origin: null`, which is elsewhere. A machine
 * sends neither field.
 * @param published the origin of BASE_URL, if it has one: a proxy may not pass on the Host by which clients reach the shop
 */
export function cameFrom(
  request: Pick<FastifyRequest, 'headers' | 'host'>,
  published: string | undefined
): 'here' | 'elsewhere' | 'unknown' {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? 'here' : 'elsewhere'
  const { origin } = request.headers
  if (origin === undefined) return 'unknown'
  if (!URL.canParse(origin)) return 'elsewhere'
  if (origin === published) return 'here'
  const { protocol, host } = new URL(origin)
  // A proxy may name the scheme's own port, which Origin leaves out.
  const own = `${protocol}//${request.host}`
  return URL.canParse(own) && host !== '' && new URL(own).host === host ? 'here' : 'elsewhere'
}

/** The page to continue at after signing in. It is always a path of this service, so that no link can redirect to another site. */
export function localPath(next: string | null | undefined, base: string): string | undefined {
  if (!next || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next)) return undefined
  const url = new URL(next, 'http://localhost')
  const isOurs =
    url.origin === 'http://localhost' &&
    !url.pathname.startsWith('//') &&
    (url.pathname === `${base}/` || url.pathname.startsWith(`${base}/`))
  return isOurs ? `${url.pathname}${url.search}` : undefined
}
