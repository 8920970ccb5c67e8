import fastifyRateLimit, { type FastifyRateLimitStore, type FastifyRateLimitStoreCtor, normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'
import { hashKey, shownKey } from './auth.ts'
import { Problem } from './problem.ts'

/** In milliseconds. */
const minute = 60_000

/** How many callers are counted, and keys known, at a time: memory is bounded however many addresses call. */
const maxCallers = 20_000

interface Tally extends FastifyRateLimitStore {
  /** Takes one request back. */
  giveBack(caller: string): void
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
    giveBack(caller) {
      const count = counts.get(caller)
      if (count && count.current > 0) count.current -= 1
    },
    child: () => tally
  }
  return tally
}

interface Charge {
  readonly caller: string
  remaining: number
  /** In seconds. */
  readonly resetsIn: number
}

/**
 * So many requests a minute for each key, or for each address (a /64 of IPv6) without one. It counts before authentication:
 * a key that was good before has a count of its own; any other is counted with its address until it has proved good, so
 * that guessing keys costs an address its requests, and over its limit not even a look into the store.
 * The fields are those of draft-ietf-httpapi-ratelimit-headers in its structured form; @fastify/rate-limit has the older ones.
 */
export default fp(
  async function rateLimit(app: FastifyInstance, { config }: { config: Config }) {
    const max = config.RATE_LIMIT
    if (max === undefined) return
    const tally = makeTally()
    const goodKeys = new LRUCache<string, true>({ max: maxCallers })
    const charges = new WeakMap<FastifyRequest, Charge>()

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
      // The plugin makes its store itself; this one is shared, as a 304 gives back what it took.
      store: function store() {
        return tally
      } as unknown as FastifyRateLimitStoreCtor
    })
    const count = app.createRateLimit()

    function tell(reply: FastifyReply, { remaining, resetsIn }: Charge) {
      reply.headers({ 'ratelimit-policy': `"default";q=${max};w=${minute / 1000}`, ratelimit: `"default";r=${remaining};t=${resetsIn}` })
    }

    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.unlimited) return
      const counted = await count(request)
      if (counted.isAllowed) return
      const charge = { caller: counted.key, remaining: counted.remaining, resetsIn: counted.ttlInSeconds }
      charges.set(request, charge)
      tell(reply, charge)
      if (!counted.isExceeded) return
      throw new Problem('too-many-requests', `More than ${max} requests in a minute. Go on in ${charge.resetsIn} seconds.`, {
        headers: { 'retry-after': String(charge.resetsIn) }
      })
    })

    app.addHook('onSend', async (request, reply) => {
      const charge = charges.get(request)
      if (!charge) return
      if (reply.statusCode === 304) {
        tally.giveBack(charge.caller)
        tell(reply, { ...charge, remaining: charge.remaining + 1 })
      }
      const hash = hashOf(request)
      if (hash === undefined) return
      if (reply.statusCode === 401) goodKeys.delete(hash)
      else if (request.caller?.kind === 'key') goodKeys.set(hash, true)
    })
  },
  { name: 'rate-limit', fastify: '5.x', dependencies: ['problems', 'limits'] }
)
