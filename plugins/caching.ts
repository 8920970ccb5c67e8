import fastifyCaching, { type AbstractCacheCompliantObject } from '@fastify/caching'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { type BodyCache, cacheShare, makeBodyCache } from '../http/body-cache.ts'

/**
 * `catalogue`: anybody may cache it. `private`: only the reader's own cache may, and must revalidate it. `final`: the reader's own
 * cache may keep it (RFC 8246). `never`: nobody may.
 */
export type CachePolicy = 'catalogue' | 'private' | 'final' | 'never'

declare module 'fastify' {
  interface FastifyContextConfig {
    caching?: CachePolicy
  }
  interface FastifyInstance {
    cachePolicies: Readonly<Record<CachePolicy, string>>
    /** Undefined if no bodies are kept. */
    bodies: BodyCache | undefined
  }
}

/**
 * Disables the lookup of @fastify/caching, which is wrong: it answers 304 to any URL and method with an entity tag that any
 * response ever had, even after the product has changed. This cache is always empty, so the lookup never finds anything.
 */
const emptyCache: AbstractCacheCompliantObject = { get: miss, set: miss }

function miss(...args: readonly unknown[]): Promise<never> {
  const done = args.at(-1)
  if (typeof done === 'function') done(null, null)
  // @fastify/caching passes a callback and does not await the promise.
  return new Promise(() => undefined)
}

/** Sets Cache-Control. Routes without a policy get @fastify/caching's: no-cache, and no-store for errors. */
export default fp(
  async function caching(app: FastifyInstance, { config }: { config: Config }) {
    await app.register(fastifyCaching, { privacy: fastifyCaching.privacy.NOCACHE, cache: emptyCache })
    const { CACHE_MAX_AGE, CACHE_STALE_WHILE_REVALIDATE, CACHE_STALE_IF_ERROR } = config
    app.decorate('cachePolicies', {
      catalogue: `public, max-age=${CACHE_MAX_AGE}, stale-while-revalidate=${CACHE_STALE_WHILE_REVALIDATE}, stale-if-error=${CACHE_STALE_IF_ERROR}`,
      private: 'private, no-cache',
      final: 'private, max-age=31536000, immutable',
      never: 'no-store'
    })
    app.decorate('bodies', makeBodyCache(cacheShare(config)))
  },
  { name: 'caching', fastify: '5.x' }
)
