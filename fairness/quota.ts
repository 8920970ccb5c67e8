export interface Limits {
  /** For all callers together. */
  readonly total: number
  readonly perCaller: number
}

/** No limit of its own, for work that other limits already bound. */
export const unlimited: Limits = { total: Number.POSITIVE_INFINITY, perCaller: Number.POSITIVE_INFINITY }

/** Counts how much of something is in use, in total and per caller, and enforces limits on both. */
export class Quota {
  readonly #limits: Limits
  readonly #callers = new Map<string, number>()
  #total = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /**
   * Acquires the amount, or acquires nothing and returns the limit that it would exceed. A caller who has nothing may exceed its own
   * limit. Otherwise an amount above that limit could never be acquired.
   */
  acquire(caller: string, amount: number): keyof Limits | undefined {
    const own = (this.#callers.get(caller) ?? 0) + amount
    if (own > this.#limits.perCaller && own > amount) return 'perCaller'
    if (this.#total + amount > this.#limits.total) return 'total'
    this.#callers.set(caller, own)
    this.#total += amount
    return undefined
  }

  release(caller: string, amount: number): void {
    const own = (this.#callers.get(caller) ?? 0) - amount
    if (own > 0) this.#callers.set(caller, own)
    else this.#callers.delete(caller)
    this.#total -= amount
  }
}
