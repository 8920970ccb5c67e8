import fastifyCaching, { type AbstractCacheCompliantObject } from '@fastify/caching'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'

/** How a resource may be cached: the catalogue by everybody, an order by its reader only and never unasked. */
export type CachePolicy = 'catalogue' | 'private' | 'never'

declare module 'fastify' {
  interface FastifyContextConfig {
    caching?: CachePolicy
  }
  interface FastifyInstance {
    cachePolicies: Readonly<Record<CachePolicy, string>>
    bodies: BodyCache
  }
}

/** What is sent for a representation, but for what its validators say. */
export interface Body {
  readonly bytes: Buffer
  readonly link: string | undefined
}

export interface BodyCache {
  /** @param key names one representation of one version */
  get(key: string): Body | undefined
  set(key: string, body: Body): void
}

/** What an entry takes besides its texts and bytes, roughly. */
const overhead = 512

/** Bounded in bytes. A key that holds the version read from the store can never give a stale body, on any replica. */
export function makeBodyCache(maxBytes: number): BodyCache {
  if (maxBytes === 0) return { get: () => undefined, set: () => {} }
  return new LRUCache<string, Body>({
    maxSize: maxBytes,
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 16)),
    sizeCalculation: ({ bytes, link = '' }, key) => bytes.length + 2 * (link.length + key.length) + overhead
  })
}

/**
 * @fastify/caching's own look-up answers 304 to any URL and any method that shows a tag which any response ever had,
 * also after the product has changed. It is given a memory that remembers nothing, so that it never decides.
 */
const forgetful: AbstractCacheCompliantObject = { get: forget, set: forget }

function forget(...args: readonly unknown[]): Promise<never> {
  const done = args.at(-1)
  if (typeof done === 'function') done(null, null)
  // With a callback, as @fastify/caching calls it, nothing awaits this.
  return new Promise(() => undefined)
}

/** Cache-Control: @fastify/caching's policy (no-cache, and no-store for what is not a success) where a route names none. */
export default fp(
  async function caching(app: FastifyInstance, { config }: { config: Config }) {
    await app.register(fastifyCaching, { privacy: fastifyCaching.privacy.NOCACHE, cache: forgetful })
    const { CACHE_MAX_AGE, CACHE_STALE_WHILE_REVALIDATE, CACHE_STALE_IF_ERROR } = config
    app.decorate('cachePolicies', {
      catalogue: `public, max-age=${CACHE_MAX_AGE}, stale-while-revalidate=${CACHE_STALE_WHILE_REVALIDATE}, stale-if-error=${CACHE_STALE_IF_ERROR}`,
      private: 'private, no-cache',
      never: 'no-store'
    })
    app.decorate('bodies', makeBodyCache(config.BODY_CACHE))
  },
  { name: 'caching', fastify: '5.x' }
)
