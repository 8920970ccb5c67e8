import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.ts'
import type { Idempotency } from '../domain/store.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Runs a write under the request's Idempotency-Key, if it has one; the write hands the key on to the store.
     * @throws DomainError `idempotency-in-flight` while the first with this key is under way here
     */
    idempotently<T>(write: (idempotency: { idempotency?: Idempotency }) => Promise<T>): Promise<T>
  }
}

/** A form carries its key in this field: a browser sends no headers of its own. */
export const idempotencyField = '_idempotency-key'

const longestKey = 255

/** Characters of a guest's key: all guests share one scope, so who guesses the key and the order is answered with the order's URI. */
const shortestGuestKey = 16

/** An Idempotency-Key header, bare or as the structured string that the draft wants. @throws Problem `malformed-request` */
export function parseIdempotencyKey(header: string): string {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)
  const key = quoted ? (quoted[1] ?? '').replace(/\\(.)/g, '$1') : header
  if (!/^[\x20-\x7e]+$/.test(key) || key.length > longestKey || (!quoted && /^"|"$/.test(header))) {
    throw new Problem('malformed-request', `Idempotency-Key must be 1 to ${longestKey} printable ASCII characters, quoted or bare.`)
  }
  return key
}

function sentKey(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key']
  if (header !== undefined) return parseIdempotencyKey(String(header).trim())
  const field = request.form()?.get(idempotencyField)
  return field ? parseIdempotencyKey(field) : undefined
}

/** @throws Problem `malformed-request` */
function keyOf(request: FastifyRequest): string | undefined {
  const key = sentKey(request)
  if (key === undefined || request.caller?.kind === 'key' || key.length >= shortestGuestKey) return key
  throw new Problem(
    'malformed-request',
    `Without an API key, an Idempotency-Key must have ${shortestGuestKey} characters or more that nobody can guess, such as a UUID: whoever sends the same key and document is answered with your order.`
  )
}

/** draft-ietf-httpapi-idempotency-key-header: the store keeps keys with what they made; this keeps those in flight apart. */
export default fp(
  async function idempotency(app: FastifyInstance) {
    const inFlight = new Set<string>()

    app.decorateRequest('idempotently', async function <
      T
    >(this: FastifyRequest, write: (given: { idempotency?: Idempotency }) => Promise<T>): Promise<T> {
      const key = keyOf(this)
      if (key === undefined) return write({})
      const caller = this.caller?.kind === 'key' ? `customer ${this.caller.customer}` : 'guest'
      const scope = `${caller} ${this.method} ${this.routeOptions.url ?? this.url}`
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
  },
  { name: 'idempotency', fastify: '5.x', dependencies: ['auth', 'documents'] }
)
