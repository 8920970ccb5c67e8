import type { LRUCache } from 'lru-cache'
import { newLru } from './lru.ts'

export interface RateLimits {
  /** The time over which requests are counted, in milliseconds. */
  readonly window: number
  /** The most callers that are counted. It limits the memory, however many addresses call. */
  readonly maxCallers: number
}

/** A caller's count in its current window, and the milliseconds that are left of it. */
interface RateCount {
  readonly current: number
  readonly ttl: number
}

/** Counts requests by caller. A caller's window starts with its first request. The least recently active callers are evicted. */
export class RateTally {
  readonly #window: number
  readonly #counts: LRUCache<string, { current: number; endsAt: number }>

  constructor({ window, maxCallers }: RateLimits) {
    this.#window = window
    this.#counts = newLru(maxCallers)
  }

  /** Counts a request. */
  count(caller: string): RateCount {
    return this.#add(caller, 1)
  }

  /**
   * Adds requests to the caller's count; a negative number subtracts. If the window of an earlier request is over, the next one begins.
   * @returns the new count
   */
  charge(caller: string, requests: number): number {
    return this.#add(caller, requests).current
  }

  look(caller: string): RateCount {
    const now = performance.now()
    const count = this.#active(caller, now)
    return count ? { current: count.current, ttl: count.endsAt - now } : { current: 0, ttl: this.#window }
  }

  #add(caller: string, requests: number): RateCount {
    // performance.now() is monotonic. With Date.now(), setting the clock back would prolong the window.
    const now = performance.now()
    const known = this.#active(caller, now)
    const count = known ?? { current: 0, endsAt: now + this.#window }
    if (!known) this.#counts.set(caller, count)
    count.current = Math.max(0, count.current + requests)
    return { current: count.current, ttl: count.endsAt - now }
  }

  /** The caller's count, if its window is not over. */
  #active(caller: string, now: number) {
    const count = this.#counts.get(caller)
    return count && count.endsAt > now ? count : undefined
  }
}
