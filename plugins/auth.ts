import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { type ApiKey, type Caller, guest, hasScope, type Scope } from '../domain/caller.ts'
import { challenge, hashKey, shownKey } from '../http/credentials.ts'
import { isForm } from '../http/form-post.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Who may use the route; absent: everybody. `guests`: also without a key, while GUEST_ORDERS is on. `readsForm`: a
     * person's form is read before its sender is refused, so that the answer can be the form with what was typed.
     */
    access?: { readonly anyOf: readonly Scope[]; readonly guests?: true; readonly readsForm?: true }
  }
  interface FastifyInstance {
    /** Whose key this is, if it is good now. */
    holderOf(key: string): Promise<Caller | undefined>
  }
  interface FastifyRequest {
    caller: Caller | undefined
    /** @throws Problem `unauthenticated`, `forbidden` when the caller may not use the route */
    authorize(): void
  }
}

function isUsable(key: ApiKey | undefined, now: number): key is ApiKey {
  return key !== undefined && key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > now)
}

/** How often the last uses of keys are written down. */
const touchInterval = 5_000

export default fp(
  async function auth(app: FastifyInstance, { config }: { config: Config }) {
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
      if (!isUsable(key, now)) return undefined
      uses.set(key.id, now)
      return { kind: 'key', keyId: key.id, customer: key.customer, scopes: key.scopes }
    }

    async function identify(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
      const shown = shownKey(request.headers.authorization)
      if (shown !== undefined) {
        const holder = shown.startsWith('tp_') ? await holderOf(hashKey(shown)) : undefined
        if (!holder)
          throw new Problem('unauthenticated', 'The API key is not valid: it is unknown, expired or revoked.', { headers: challenge })
        return holder
      }
      if (request.signedInKey === undefined) return guest
      const holder = await holderOf(request.signedInKey)
      // Who was signed in with a key that is no longer good is signed out, and may still look around.
      if (!holder) reply.signOut()
      return holder ?? guest
    }

    app.decorate('holderOf', (key: string) => (key.startsWith('tp_') ? holderOf(hashKey(key)) : Promise.resolve(undefined)))

    app.decorateRequest('caller', undefined)
    app.decorateRequest('authorize', function (this: FastifyRequest): void {
      const { caller = guest } = this
      const { access } = this.routeOptions.config
      if (!access) return
      if (caller.kind === 'guest') {
        if (access.guests && config.GUEST_ORDERS) return
        throw new Problem('unauthenticated', 'This needs an API key.', { headers: challenge })
      }
      if (!access.anyOf.some((scope) => hasScope(caller, scope))) {
        throw new Problem(
          'forbidden',
          `This needs a key with the scope ${access.anyOf.join(' or ')}; yours has ${caller.scopes.join(', ')}.`
        )
      }
    })
    app.addHook('onRequest', async (request, reply) => {
      request.caller = await identify(request, reply)
      // Then the forms do it, once they are read.
      if (!(request.routeOptions.config.access?.readsForm && isForm(request))) request.authorize()
    })
  },
  { name: 'auth', fastify: '5.x', dependencies: ['problems', 'session', 'store'] }
)
