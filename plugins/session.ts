import { randomBytes } from 'node:crypto'
import cookies from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { hashKey } from '../http/credentials.ts'
import { isForm } from '../http/form-post.ts'
import { addCheck } from '../http/hooks.ts'
import { sessionCookie } from '../http/masked-names.ts'
import { isRead } from '../http/methods.ts'
import { cameFrom } from '../http/origin.ts'
import { Problem } from '../http/problem.ts'
import { makeSeal } from '../http/seal.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The SHA-256 of the key that a person signed in with, where the request may be authenticated by it. Empty: the cookie is too old, or
     * cannot be read, so the person is no longer signed in.
     */
    signedInKey: string | undefined
  }
  interface FastifyReply {
    signIn(key: string): FastifyReply
    signOut(): FastifyReply
  }
}

/** @fastify/cookie is not registered: every request would pass its hooks, and few have cookies. */
const { parse, serialize } = cookies.fastifyCookie

/** A working day, in seconds. After it a person enters the key again. */
export const sessionSeconds = 12 * 60 * 60

/**
 * Whether the cookie may authenticate the request. It may if a browser shows a page or posts from one. It never authenticates
 * a machine's request, nor one for a page of the catalogue, which any cache may keep for everybody.
 */
function mayUseCookie(request: FastifyRequest): boolean {
  if (request.headers.authorization !== undefined) return false
  if (request.method === 'POST') return true
  const isPrivatePage = request.isPage && request.routeOptions.config.caching !== 'catalogue'
  return isPrivatePage && isRead(request.method)
}

/**
 * A person signs in by entering a key once. The cookie holds the key's SHA-256 and an expiry time, encrypted and authenticated.
 * So a lost secret gives no key away. The server keeps no session: `auth` looks the key up on every request. Once the key is revoked,
 * the person must sign in again, or sign out: only these two replace the cookie, so that nobody goes on as a guest without knowing it.
 *
 * Cross-site request forgery: the cookie is SameSite=Strict, so other sites cannot make a browser send it. But a "site" includes
 * every subdomain and, in older browsers, every scheme. Therefore a post that the cookie authenticates must also show by
 * Sec-Fetch-Site or Origin that it comes from this origin. Pages need no token for that, and can be cached. A form post from
 * elsewhere is refused for guests too, because nobody should order by visiting another site. Go's
 * net/http.CrossOriginProtection has the same rule; OWASP calls it fetch metadata.
 */
export default fp(
  async function session(app: FastifyInstance, { config }: { config: Config }) {
    const { seal, open } = makeSeal(config.SESSION_SECRET || randomBytes(32).toString('hex'))
    const path = config.BASE_URL.path || '/'
    // A browser also sends the cookie of a shop to another shop under its base path. So each has its own name.
    const name = `${sessionCookie}${encodeURIComponent(config.BASE_URL.path)}`
    // A TLS proxy may not forward the scheme, or may not be trusted. An https BASE_URL then makes the cookie Secure.
    const isPublishedSecurely = config.BASE_URL.origin?.startsWith('https:') ?? false
    const attributes = (request: FastifyRequest) =>
      ({ path, httpOnly: true, sameSite: 'strict', secure: isPublishedSecurely || request.protocol === 'https' }) as const
    function setCookie(reply: FastifyReply, value: string, age: { readonly maxAge: number; readonly expires?: Date }): FastifyReply {
      return reply.header('set-cookie', serialize(name, value, { ...attributes(reply.request), ...age }))
    }

    app.decorateRequest('signedInKey', undefined)
    app.decorateReply('signIn', function (this: FastifyReply, key: string) {
      const ends = Math.floor(Date.now() / 1000) + sessionSeconds
      return setCookie(this, seal(`${ends} ${hashKey(key)}`), { maxAge: sessionSeconds })
    })
    app.decorateReply('signOut', function (this: FastifyReply) {
      return setCookie(this, '', { maxAge: 0, expires: new Date(0) })
    })

    addCheck(app, 'onRequest', (request) => {
      if (isForm(request) && cameFrom(request, config.BASE_URL.origin) === 'elsewhere') {
        throw new Problem(
          'forbidden',
          'This form was sent by a page of another site, which is not accepted. Open the page here and send it again.'
        )
      }
      const { cookie } = request.headers
      const sealed = cookie === undefined ? undefined : parse(cookie)[name]
      if (sealed === undefined || !mayUseCookie(request)) return
      const [ends = '', hash = ''] = open(sealed)?.split(' ') ?? []
      request.signedInKey = Number(ends) * 1000 > Date.now() ? hash : ''
      if (request.signedInKey === '') return
      if (request.method === 'POST' && cameFrom(request, config.BASE_URL.origin) !== 'here') {
        throw new Problem(
          'forbidden',
          'The browser does not say that this comes from a page of this site, so the sign-in does not count for it.'
        )
      }
    })

    // No cache may show a page that depends on the signed-in person to somebody else. Pages of the catalogue do not depend on it.
    addCheck(app, 'onSend', (request, reply) => {
      const isPage = request.isPage || /^text\/html/.test(String(reply.getHeader('content-type') ?? ''))
      if (!isPage || /\bpublic\b/.test(String(reply.getHeader('cache-control') ?? ''))) return
      const vary = String(reply.getHeader('vary') ?? '')
      if (!/\bcookie\b/i.test(vary)) reply.header('vary', vary === '' ? 'Cookie' : `${vary}, Cookie`)
    })
  },
  { name: 'session', fastify: '5.x', dependencies: ['problems', 'negotiation'] }
)
