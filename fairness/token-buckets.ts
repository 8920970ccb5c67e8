import type { LRUCache } from 'lru-cache'
import { newLru } from './lru.ts'

export interface BucketLimits {
  /** The tokens that a caller can take at once. */
  readonly burst: number
  /** The tokens that a caller can take in a second from then on. */
  readonly perSecond: number
  /** The most callers that are known. It limits the memory, however many there are. */
  readonly maxCallers: number
}

/** A token bucket for each caller. What exceeds the rate is spread evenly, so that no second begins with a burst of its own. */
export class TokenBuckets {
  readonly #limits: BucketLimits
  readonly #buckets: LRUCache<string, { tokens: number; at: number }>

  constructor(limits: BucketLimits) {
    this.#limits = limits
    this.#buckets = newLru(limits.maxCallers)
  }

  /** Takes a token of the caller. @returns whether there was one */
  take(caller: string): boolean {
    const { burst, perSecond } = this.#limits
    // performance.now() is monotonic.
    const now = performance.now()
    const bucket = this.#buckets.get(caller) ?? { tokens: burst, at: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond)
    bucket.at = now
    this.#buckets.set(caller, bucket)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}
