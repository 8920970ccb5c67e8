export interface Limits {
  /** For all callers together. */
  readonly total: number
  readonly perCaller: number
}

/** For work that needs no limit of its own, because other limits already bound it. */
export const unlimited: Limits = { total: Number.POSITIVE_INFINITY, perCaller: Number.POSITIVE_INFINITY }

/** The name of a caller and of its network. */
export interface Holder {
  readonly name: string
  readonly network: string
}

export interface QuotaLimits extends Limits {
  /** For all callers of a network together. Without it there is no such limit. */
  readonly perNetwork?: number
  /** A caller that has no more than this may exceed the limits of its network and of all together by half. */
  readonly small?: number
}

export type ExceededLimit = 'total' | 'perCaller' | 'perNetwork'

/** The amounts that callers or networks have in use, by name. */
class Shares {
  readonly #amounts = new Map<string, number>()

  of(name: string): number {
    return this.#amounts.get(name) ?? 0
  }

  add(name: string, amount: number): void {
    const sum = this.of(name) + amount
    if (sum > 0) this.#amounts.set(name, sum)
    else this.#amounts.delete(name)
  }

  /** A name that has nothing may exceed the limit. Otherwise nobody could ever have something that is larger than the limit. */
  isOver(limit: number, name: string, amount: number): boolean {
    const own = this.of(name)
    return own > 0 && own + amount > limit
  }
}

/** Counts how much of something is in use, in total, per caller and per network, and enforces limits on all of them. */
export class Quota {
  readonly #limits: Required<QuotaLimits>
  readonly #callers = new Shares()
  readonly #networks = new Shares()
  #total = 0

  constructor(limits: QuotaLimits) {
    this.#limits = { perNetwork: Number.POSITIVE_INFINITY, small: 0, ...limits }
  }

  /** Acquires the amount, or acquires nothing and returns the limit that it would exceed. */
  acquire(holder: Holder, amount: number): ExceededLimit | undefined {
    const { name, network } = holder
    const { total, perCaller, perNetwork, small } = this.#limits
    const factor = this.#callers.of(name) + amount <= small ? 1.5 : 1
    if (this.#callers.isOver(perCaller, name, amount)) return 'perCaller'
    if (this.#networks.isOver(factor * perNetwork, network, amount)) return 'perNetwork'
    if (this.#total + amount > factor * total) return 'total'
    this.#add(holder, amount)
    return undefined
  }

  release(holder: Holder, amount: number): void {
    this.#add(holder, -amount)
  }

  #add({ name, network }: Holder, amount: number): void {
    this.#callers.add(name, amount)
    this.#networks.add(network, amount)
    this.#total += amount
  }
}
