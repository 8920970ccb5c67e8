import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { KeyUses } from '../background/key-uses.ts'
import { type Caller, guest, isValidKey } from '../domain/caller.ts'
import { hashKey, shownKey, signedOut, unauthenticated } from '../http/credentials.ts'
import { isForm } from '../http/form-post.ts'
import { addWait } from '../http/hooks.ts'
import { keyPrefix } from '../http/masked-names.ts'
import { notationOf } from '../http/notation.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads no keys: it is answered without the store, and also with a wrong key. */
    anonymous?: true
    /** The route signs people in and out, so it also answers those who are no longer signed in. */
    signsIn?: true
  }
  interface FastifyRequest {
    /** The sender of the request. It is a guest until `identity` is set. */
    readonly caller: Caller
    /** The sender, once it is found out: from the key of the request, or from its document. */
    identity: Caller | undefined
    /** The digest of the key that first told who the caller is. */
    callerKeyHash: string | undefined
    /** The caller that a key belongs to, if the key is valid now. */
    callerOfKey(key: string): Promise<Caller | undefined>
    /** The refusal of the request's key, if the document is read before the request is refused. */
    keyRefusal: Error | undefined
    /**
     * Looks the key of the caller up again. For requests that have waited long: the key may have been revoked meanwhile.
     * @throws Problem `unauthenticated` when it is not valid any more
     */
    requireKeyStill(): Promise<void>
  }
}

/** Whether the request shows no key at all, or none that matters. Then no promise is needed to find out who the caller is. */
function isAnonymous({ headers, signedInKey, routeOptions }: FastifyRequest): boolean {
  return (headers.authorization === undefined && signedInKey === undefined) || routeOptions.config.anonymous === true
}

/**
 * Whether the request may carry cXML, whose senders can only read cXML. A client that sends Expect: 100-continue with a key is
 * refused before it sends the document.
 */
export function mayBeCxml(request: FastifyRequest): boolean {
  const { expect, authorization } = request.headers
  if (expect !== undefined && authorization !== undefined) return false
  return request.routeOptions.config.buyers !== undefined && notationOf(request) === 'xml'
}

/**
 * Whether the request's document is read before the request is refused: a page shows the form again with all that was typed, and cXML
 * is answered in cXML.
 */
function isReadFirst(request: FastifyRequest): boolean {
  return isShownAgain(request) || mayBeCxml(request)
}

/** Whether the request posts a form that a page shows again when it is refused. */
export function isShownAgain(request: FastifyRequest): boolean {
  return request.routeOptions.config.form?.refused !== undefined && isForm(request)
}

/** Finds out who the caller is. plugins/authorization decides what the caller may do. */
export default fp(
  async function auth(app: FastifyInstance) {
    const uses = new KeyUses((recorded) => app.store.touchKeys(recorded), app.log)
    app.addHook('onClose', () => uses.stop())

    async function findCaller(request: FastifyRequest, hash: string): Promise<Caller | undefined> {
      const now = Date.now()
      const key = await request.read((store) => store.findKey(hash))
      if (!key || !isValidKey(key, now)) return undefined
      uses.note(key.id, now)
      request.callerKeyHash ??= hash
      return { kind: 'key', keyId: key.id, customer: key.customer, scopes: key.scopes }
    }

    async function identify(request: FastifyRequest): Promise<Caller> {
      const shown = shownKey(request.headers.authorization)
      if (shown !== undefined) {
        const caller = await request.callerOfKey(shown)
        if (!caller) throw unauthenticated('The API key is not valid: it is unknown, expired or revoked.')
        return caller
      }
      const { signedInKey } = request
      if (signedInKey === undefined) return guest
      const caller = signedInKey === '' ? undefined : await findCaller(request, signedInKey)
      // A person who believes to be signed in must not order as a guest.
      if (!caller && !request.routeOptions.config.signsIn) throw signedOut()
      return caller ?? guest
    }

    app.decorateRequest('identity', undefined)
    app.decorateRequest('callerKeyHash', undefined)
    app.decorateRequest('caller', {
      getter(this: FastifyRequest) {
        return this.identity ?? guest
      }
    })
    app.decorateRequest('keyRefusal', undefined)
    app.decorateRequest('callerOfKey', async function (this: FastifyRequest, key: string) {
      return key.startsWith(keyPrefix) ? findCaller(this, hashKey(key)) : undefined
    })
    app.decorateRequest('requireKeyStill', async function (this: FastifyRequest) {
      if (this.caller.kind === 'guest') return
      const hash = this.callerKeyHash
      if (hash === undefined || !(await findCaller(this, hash))) throw unauthenticated('The API key was revoked or has expired.')
    })
    addWait(app, 'onRequest', (request, _reply, done) => {
      if (isAnonymous(request)) {
        request.identity = guest
        done()
        return
      }
      identify(request).then(
        (caller) => {
          request.identity = caller
          done()
        },
        (error) => {
          if (!(error instanceof Problem) || !isReadFirst(request)) return done(error)
          request.identity = guest
          request.keyRefusal = error
          done()
        }
      )
    })
  },
  { name: 'auth', fastify: '5.x', dependencies: ['problems', 'session', 'store'] }
)
