import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.ts'
import type { Idempotency } from '../domain/store.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Checks the form of the request's Idempotency-Key, if it has one, without using it. @throws Problem `malformed-request` */
    checkIdempotencyKey(): void
    /**
     * Runs a write under the request's Idempotency-Key, if it has one. The write passes the key to the store.
     * @throws DomainError `idempotency-in-flight` while the first with this key is under way here
     */
    idempotently<T>(write: (idempotency: { idempotency?: Idempotency }) => Promise<T>): Promise<T>
    /**
     * Runs a write under an id in its document, which is a key together with the document's bytes: another document with the
     * same id is another request. Requests that come together wait for each other in the store.
     */
    onceForDocument<T>(id: string, write: (idempotency: { idempotency: Idempotency }) => Promise<T>): Promise<T>
  }
}

const longestKey = 255

/** Characters of a guest's key. All guests share one scope: anybody who guesses a guest's key and order gets the order's URI. */
const shortestGuestKey = 16

/** An Idempotency-Key header, bare or as the structured string that the draft wants. @throws Problem `malformed-request` */
function parseIdempotencyKey(header: string): string {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)
  const key = quoted ? (quoted[1] ?? '').replace(/\\(.)/g, '$1') : header
  if (!/^[\x20-\x7e]+$/.test(key) || key.length > longestKey || (!quoted && /^"|"$/.test(header))) {
    throw new Problem('malformed-request', `Idempotency-Key must be 1 to ${longestKey} printable ASCII characters, quoted or bare.`)
  }
  return key
}

/** @throws Problem `malformed-request` */
function keyOf({ operation, caller }: FastifyRequest): string | undefined {
  if (operation.idempotencyKey === undefined) return undefined
  const key = parseIdempotencyKey(operation.idempotencyKey.trim())
  if (caller?.kind === 'key' || key.length >= shortestGuestKey) return key
  throw new Problem(
    'malformed-request',
    `Without an API key, an Idempotency-Key must have ${shortestGuestKey} characters or more that nobody can guess, such as a UUID: whoever sends the same key and document is answered with your order.`
  )
}

function scopeOf({ caller, method, routeOptions, url, params }: FastifyRequest): string {
  const values = params as Readonly<Record<string, string>>
  const path = (routeOptions.url ?? url).replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')
  return `${caller?.kind === 'key' ? `customer ${caller.customer}` : 'guest'} ${method} ${path}`
}

/** draft-ietf-httpapi-idempotency-key-header. The store keeps each key with its order; this plugin refuses a key that is in flight. */
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
        throw new DomainError('idempotency-in-flight', 'The first request with this Idempotency-Key is still in progress.')
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
      const key = createHash('sha256').update(`${fingerprint} ${id}`).digest('hex')
      return write({ idempotency: { scope: `document of ${scopeOf(this)}`, key, fingerprint } })
    })
  },
  { name: 'idempotency', fastify: '5.x', dependencies: ['auth', 'documents', 'form-requests'] }
)
