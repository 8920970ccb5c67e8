import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Idempotency } from '../domain/store.ts'
import { readIdempotencyKey } from '../http/idempotency-key.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Checks the form of the request's Idempotency-Key, if it has one, without using it. @throws Problem `malformed-request` */
    checkIdempotencyKey(): void
    /**
     * Runs a write under the request's Idempotency-Key, if it has one. The write passes the key to the store.
     * @throws Problem `idempotency-in-flight` while this process still handles the first request with the key
     */
    idempotently<T>(write: (idempotency: { idempotency?: Idempotency }) => Promise<T>): Promise<T>
    /**
     * Runs a write under an id in its document. The key is made of the id and of the document's bytes, so another document with
     * the same id is another request. Equal requests that come together wait for each other in the store.
     */
    onceForDocument<T>(id: string, write: (idempotency: { idempotency: Idempotency }) => Promise<T>): Promise<T>
  }
}

/** @throws Problem `malformed-request` */
function keyOf({ operation: { idempotencyKey }, caller }: FastifyRequest): string | undefined {
  return idempotencyKey === undefined ? undefined : readIdempotencyKey(idempotencyKey.trim(), caller.kind !== 'key')
}

function scopeOf({ caller, method, routeOptions, url, params }: FastifyRequest): string {
  const values = params as Readonly<Record<string, string>>
  const path = (routeOptions.url ?? url).replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')
  return `${caller.kind === 'key' ? `customer ${caller.customer}` : 'guest'} ${method} ${path}`
}

/** draft-ietf-httpapi-idempotency-key-header. The store keeps each key with its answer; this plugin refuses a key that is in flight. */
export default fp(
  async function idempotency(app: FastifyInstance) {
    const inFlight = new Set<string>()

    app.decorateRequest('checkIdempotencyKey', function (this: FastifyRequest) {
      keyOf(this)
    })

    app.decorateRequest('idempotently', async function <
      T
    >(this: FastifyRequest, write: (given: { idempotency?: Idempotency }) => Promise<T>): Promise<T> {
      const key = keyOf(this)
      if (key === undefined) return write({})
      const scope = scopeOf(this)
      const name = `${scope} ${key}`
      if (inFlight.has(name))
        throw new Problem('idempotency-in-flight', 'The first request with this Idempotency-Key is still in progress.')
      inFlight.add(name)
      try {
        return await write({ idempotency: { scope, key, fingerprint: this.submission?.digest ?? '' } })
      } finally {
        inFlight.delete(name)
      }
    })

    app.decorateRequest('onceForDocument', async function <
      T
    >(this: FastifyRequest, id: string, write: (given: { idempotency: Idempotency }) => Promise<T>): Promise<T> {
      const fingerprint = this.submission?.digest ?? ''
      const key = hash('sha256', `${fingerprint} ${id}`)
      return write({ idempotency: { scope: `document of ${scopeOf(this)}`, key, fingerprint } })
    })
  },
  { name: 'idempotency', fastify: '5.x', dependencies: ['auth', 'documents', 'form-requests'] }
)
