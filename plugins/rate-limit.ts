import { setTimeout as sleep } from 'node:timers/promises'
import fastifyRateLimit, { type FastifyRateLimitStore, type FastifyRateLimitStoreCtor, normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'
import { hashKey, shownKey } from '../http/credentials.ts'
import { Problem } from '../http/problem.ts'

/** In milliseconds. */
const minute = 60_000

/** How many callers are counted, and keys known, at a time: memory is bounded however many addresses call. */
const maxCallers = 20_000

/** What a request may cost beyond the one that it is: a body by its bytes, a document by the time that it takes. */
const price = {
  /** Bytes of a body that cost one request. */
  bodyBytes: 64 * 1024,
  /** Milliseconds of the document process that cost one request. */
  workMilliseconds: 50
} as const

/**
 * Who goes on after as many refusals as requests were allowed gets each further refusal after a pause, in milliseconds. A
 * connection waits for its answer, so a flood over 500 connections becomes 2,000 requests a second instead of all that the
 * thread can refuse.
 */
const pause = 250

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Counts so many requests more against the caller's rate. Who has fewer left is refused only with the next request,
     * so that what costs more than there is left of a minute can still be done. Fewer than none are given back.
     */
    charge(requests: number): void
    /** Counts the time that the document process spent for the request, in milliseconds. */
    chargeWork(milliseconds: number): void
  }
}

interface Tally extends FastifyRateLimitStore {
  /** Counts so many requests more. @returns how many there are now */
  charge(caller: string, requests: number): number
}

/** Requests by caller in a minute that starts with the first; the caller that was silent for longest is forgotten first. */
export function makeTally(): Tally {
  const counts = new LRUCache<string, { current: number; endsAt: number }>({ max: maxCallers })
  const tally: Tally = {
    incr(caller, callback, length) {
      // A clock that is set back would make the minute longer.
      const now = performance.now()
      const known = counts.get(caller)
      const count = known && known.endsAt > now ? known : { current: 0, endsAt: now + length }
      if (count !== known) counts.set(caller, count)
      count.current += 1
      callback(null, { current: count.current, ttl: count.endsAt - now })
    },
    charge(caller, requests) {
      // The minute of the request may be over: then it counts in the one that goes on.
      tally.incr(caller, () => {}, minute, 0)
      const count = counts.get(caller)
      if (!count) return 0
      count.current = Math.max(0, count.current - 1 + requests)
      return count.current
    },
    child: () => tally
  }
  return tally
}

interface Charge {
  readonly caller: string
  /** Requests that are counted of the caller. */
  current: number
  /** In seconds. */
  readonly resetsIn: number
}

/** A body costs one request for every 64 KiB begun; the first is the request itself. */
function costOf(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / price.bodyBytes) - 1)
}

function bytesOf(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 0
  if ('bytes' in body && body.bytes instanceof Uint8Array) return body.bytes.length
  return 'form' in body && typeof body.form === 'string' ? Buffer.byteLength(body.form) : 0
}

/**
 * So many requests a minute for each key, or for each address (a /64 of IPv6) without one. It counts before authentication:
 * a key that was good before has a count of its own; any other is counted with its address until it has proved good, so
 * that guessing keys costs an address its requests, and over its limit not even a look into the store.
 * It comes before everything that refuses: what is refused or shed counts too.
 * The fields are those of draft-ietf-httpapi-ratelimit-headers in its structured form; @fastify/rate-limit has the older ones.
 */
export default fp(
  async function rateLimit(app: FastifyInstance, { config }: { config: Config }) {
    const max = config.RATE_LIMIT
    if (max === undefined) {
      app.decorateRequest('charge', () => {})
      app.decorateRequest('chargeWork', () => {})
      return
    }
    const tally = makeTally()
    const goodKeys = new LRUCache<string, true>({ max: maxCallers })
    const charges = new WeakMap<FastifyRequest, Charge>()

    const isChunked = ({ headers }: FastifyRequest) => headers['transfer-encoding'] !== undefined
    /** As the header tells it; of a body that is too large only what is read of it. */
    const declaredLength = (request: FastifyRequest) =>
      isChunked(request) ? 0 : Math.min(Number(request.headers['content-length'] ?? 0) || 0, config.BODY_LIMIT)
    const hashOf = ({ headers }: FastifyRequest): string | undefined => {
      const shown = shownKey(headers.authorization)
      return shown === undefined ? undefined : hashKey(shown)
    }
    await app.register(fastifyRateLimit, {
      global: false,
      max,
      timeWindow: minute,
      keyGenerator: (request) => {
        const hash = hashOf(request)
        return hash !== undefined && goodKeys.has(hash) ? `key ${hash}` : `address ${normalizeIP(request.ip)}`
      },
      // The plugin makes its store itself; this one is shared, as requests are charged more.
      store: function store() {
        return tally
      } as unknown as FastifyRateLimitStoreCtor
    })
    const count = app.createRateLimit()

    // Parameters of our own carry our name, as the draft wants it.
    const policy = `"default";q=${max};w=${minute / 1000};tradepost-body-bytes=${price.bodyBytes};tradepost-work-ms=${price.workMilliseconds}`

    const tell = (reply: FastifyReply, { current, resetsIn }: Charge) => {
      reply.headers({ 'ratelimit-policy': policy, ratelimit: `"default";r=${Math.max(0, max - current)};t=${resetsIn}` })
    }

    app.decorateRequest('charge', function (this: FastifyRequest, requests: number) {
      const charge = charges.get(this)
      if (charge && requests !== 0) charge.current = tally.charge(charge.caller, requests)
    })
    app.decorateRequest('chargeWork', function (this: FastifyRequest, milliseconds: number) {
      this.charge(Math.floor(milliseconds / price.workMilliseconds))
    })

    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.unlimited) return
      const counted = await count(request)
      if (counted.isAllowed) return
      const charge = { caller: counted.key, current: max - counted.remaining, resetsIn: counted.ttlInSeconds }
      charges.set(request, charge)
      tell(reply, charge)
      if (!counted.isExceeded) return request.charge(costOf(declaredLength(request)))
      if (tally.charge(charge.caller, 0) > 2 * max) await sleep(pause)
      throw new Problem('too-many-requests', `More than ${max} requests in a minute. Go on in ${charge.resetsIn} seconds.`, {
        headers: { 'retry-after': String(charge.resetsIn) }
      })
    })

    // Of a body in chunks the length is known only now.
    app.addHook('preValidation', async (request) => {
      if (isChunked(request)) request.charge(costOf(bytesOf(request.body)))
    })

    app.addHook('onSend', async (request, reply) => {
      const charge = charges.get(request)
      if (!charge) return
      if (reply.statusCode === 413 && isChunked(request)) request.charge(costOf(config.BODY_LIMIT))
      tell(reply, charge)
      const hash = hashOf(request)
      if (hash === undefined) return
      if (reply.statusCode === 401) goodKeys.delete(hash)
      else if (request.caller?.kind === 'key') goodKeys.set(hash, true)
    })
  },
  { name: 'rate-limit', fastify: '5.x', dependencies: ['problems'] }
)
