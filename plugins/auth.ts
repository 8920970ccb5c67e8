import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Caller, guest, isValidKey } from '../domain/caller.ts'
import { hashKey, shownKey, unauthenticated } from '../http/credentials.ts'
import { notationOf } from '../http/notation.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The caller that a key belongs to, if the key is valid now. */
    holderOf(key: string): Promise<Caller | undefined>
  }
  interface FastifyRequest {
    caller: Caller | undefined
    /** Why the key of the request is refused, where a document may have to be answered in its own vocabulary first. */
    refusedKey: Error | undefined
  }
}

/** Whether the request shows no key at all. Then no promise is needed to find out who the caller is. */
function isAnonymous({ headers, signedInKey }: FastifyRequest): boolean {
  return headers.authorization === undefined && signedInKey === undefined
}

/**
 * Whether the document of the request may be cXML. Its senders read no other answer. A client that asks whether its header
 * fields will do (Expect: 100-continue) is told before it sends the document.
 */
export function mayBeCxml(request: FastifyRequest): boolean {
  const { expect, authorization } = request.headers
  if (expect !== undefined && authorization !== undefined) return false
  return request.routeOptions.config.buyers !== undefined && notationOf(request) === 'xml'
}

/** The interval at which the last use of each key is recorded, in milliseconds. */
const touchInterval = 5_000

/** Finds out who the caller is. plugins/authorization decides what the caller may do. */
export default fp(
  async function auth(app: FastifyInstance) {
    const uses = new Map<string, number>()
    const timer = setInterval(() => void recordUses(), touchInterval)
    timer.unref()
    app.addHook('onClose', async () => {
      clearInterval(timer)
      await recordUses()
    })

    async function recordUses(): Promise<void> {
      if (uses.size === 0) return
      const recorded = [...uses].map(([id, at]) => ({ id, at }))
      uses.clear()
      try {
        await app.store.touchKeys(recorded)
      } catch (error) {
        app.log.warn({ err: error }, 'the last use of keys could not be recorded')
      }
    }

    async function holderOf(hash: string): Promise<Caller | undefined> {
      const now = Date.now()
      const key = await app.store.findKey(hash)
      if (!key || !isValidKey(key, now)) return undefined
      uses.set(key.id, now)
      return { kind: 'key', keyId: key.id, customer: key.customer, scopes: key.scopes }
    }

    async function identify(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
      const shown = shownKey(request.headers.authorization)
      if (shown !== undefined) {
        const holder = shown.startsWith('tp_') ? await holderOf(hashKey(shown)) : undefined
        if (!holder) throw unauthenticated('The API key is not valid: it is unknown, expired or revoked.')
        return holder
      }
      if (request.signedInKey === undefined) return guest
      const holder = await holderOf(request.signedInKey)
      // Sign out a person whose key is no longer valid. The person goes on as a guest.
      if (!holder) reply.signOut()
      return holder ?? guest
    }

    app.decorate('holderOf', (key: string) => (key.startsWith('tp_') ? holderOf(hashKey(key)) : Promise.resolve(undefined)))

    app.decorateRequest('caller', undefined)
    app.decorateRequest('refusedKey', undefined)
    app.addHook('onRequest', (request, reply, done) => {
      if (isAnonymous(request)) {
        request.caller = guest
        done()
        return
      }
      identify(request, reply).then(
        (caller) => {
          request.caller = caller
          done()
        },
        (error) => {
          if (!(error instanceof Problem) || !mayBeCxml(request)) return done(error)
          request.caller = guest
          request.refusedKey = error
          done()
        }
      )
    })
  },
  { name: 'auth', fastify: '5.x', dependencies: ['problems', 'session', 'store'] }
)
