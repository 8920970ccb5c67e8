import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { hashKey } from '../http/credentials.ts'
import { isForm } from '../http/form-post.ts'
import { checking, checkingPayload } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The SHA-256 of the key that a person signed in with, where the request may be authenticated by it. */
    signedInKey: string | undefined
  }
  interface FastifyReply {
    signIn(key: string): FastifyReply
    signOut(): FastifyReply
  }
}

const cookieName = 'tradepost-session'
/** A working day, in seconds. After it a person enters the key again. */
const sessionSeconds = 12 * 60 * 60
const ivLength = 12
const tagLength = 16

/** AES-256-GCM: the browser that keeps the text can neither read nor change it. */
export function makeSeal(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'tradepost session', 32))
  return {
    seal(text: string): string {
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagLength })
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    /** The text, or undefined when it was not sealed with this secret, or was changed since. */
    open(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length <= ivLength + tagLength) return undefined
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
        decipher.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
        return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    }
  }
}

/**
 * The origin of a request, as the browser says it: by Sec-Fetch-Site, which no page can forge, or else by comparing Origin with
 * Host, since browsers send no Sec-Fetch-Site over plain HTTP. A sandbox sends `Origin: null`, which is elsewhere. A machine
 * sends neither field.
 */
export function cameFrom(request: Pick<FastifyRequest, 'headers' | 'host'>): 'here' | 'elsewhere' | 'unknown' {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? 'here' : 'elsewhere'
  const { origin } = request.headers
  if (origin === undefined) return 'unknown'
  if (!URL.canParse(origin)) return 'elsewhere'
  const { protocol, host } = new URL(origin)
  // A proxy may name the scheme's own port, which Origin leaves out.
  const own = `${protocol}//${request.host}`
  return URL.canParse(own) && host !== '' && new URL(own).host === host ? 'here' : 'elsewhere'
}

/**
 * Whether the cookie may authenticate the request. It may if a browser shows a page or posts from one. It never authenticates
 * a machine's request, nor one for a page of the catalogue, which any cache may keep for everybody.
 */
function mayUseCookie(request: FastifyRequest): boolean {
  if (request.headers.authorization !== undefined) return false
  if (request.method === 'POST') return true
  const isPage = request.representation?.mediaType === 'text/html' && request.routeOptions.config.caching !== 'catalogue'
  return isPage && (request.method === 'GET' || request.method === 'HEAD')
}

/**
 * A person signs in by entering a key once. The server keeps no state: an encrypted and authenticated cookie carries the
 * key's SHA-256 (as the store has it, so that not even the secret's loss gives a key away) and when it ends; auth looks
 * the key up at every request, so that a revoked key is out at once.
 *
 * Cross-site request forgery: the cookie is SameSite=Strict, so other sites cannot make a browser send it; and since a
 * "site" includes every subdomain and, to older browsers, every scheme, a post that the cookie authenticates must also
 * show by Sec-Fetch-Site or Origin that it comes from this very origin. That needs no token in the pages, which may
 * therefore be cached. A form post that says that it comes from elsewhere is refused for guests too: nobody should order
 * by visiting another site. (The same rule as Go's net/http.CrossOriginProtection; OWASP calls it fetch metadata.)
 */
export default fp(
  async function session(app: FastifyInstance, { config }: { config: Config }) {
    const { seal, open } = makeSeal(config.SESSION_SECRET || randomBytes(32).toString('hex'))
    const path = config.BASE_URL.path || '/'
    // A proxy that ends TLS may not say so, or not be trusted; BASE_URL then says how browsers come.
    const isPublishedSecurely = config.BASE_URL.origin?.startsWith('https:') ?? false
    const attributes = (request: FastifyRequest) =>
      ({ path, httpOnly: true, sameSite: 'strict', secure: isPublishedSecurely || request.protocol === 'https' }) as const
    await app.register(cookie, { hook: 'onRequest' })

    app.decorateRequest('signedInKey', undefined)
    app.decorateReply('signIn', function (this: FastifyReply, key: string) {
      const ends = Math.floor(Date.now() / 1000) + sessionSeconds
      return this.setCookie(cookieName, seal(`${ends} ${hashKey(key)}`), { ...attributes(this.request), maxAge: sessionSeconds })
    })
    app.decorateReply('signOut', function (this: FastifyReply) {
      return this.clearCookie(cookieName, attributes(this.request))
    })

    app.addHook(
      'onRequest',
      checking((request, reply) => {
        if (isForm(request) && cameFrom(request) === 'elsewhere') {
          throw new Problem(
            'forbidden',
            'This form was sent by a page of another site, which is not accepted. Open the page here and send it again.'
          )
        }
        const sealed = request.cookies[cookieName]
        if (sealed === undefined || !mayUseCookie(request)) return
        const [ends = '', hash] = open(sealed)?.split(' ') ?? []
        if (hash === undefined || Number(ends) * 1000 <= Date.now()) {
          reply.signOut()
          return
        }
        if (request.method === 'POST' && cameFrom(request) !== 'here') {
          throw new Problem(
            'forbidden',
            'The browser does not say that this comes from a page of this site, so the sign-in does not count for it.'
          )
        }
        request.signedInKey = hash
      })
    )

    // No cache may show a page that depends on the signed-in person to somebody else. Pages of the catalogue do not depend on it.
    app.addHook(
      'onSend',
      checkingPayload((request, reply) => {
        const isPage =
          request.representation?.mediaType === 'text/html' || /^text\/html/.test(String(reply.getHeader('content-type') ?? ''))
        if (!isPage || /\bpublic\b/.test(String(reply.getHeader('cache-control') ?? ''))) return
        const vary = String(reply.getHeader('vary') ?? '')
        if (!/\bcookie\b/i.test(vary)) reply.header('vary', vary === '' ? 'Cookie' : `${vary}, Cookie`)
      })
    )
  },
  { name: 'session', fastify: '5.x', dependencies: ['problems', 'negotiation'] }
)
