export interface Limits {
  /** For all callers together. */
  readonly total: number
  readonly perCaller: number
}

/** No limit of its own, for work that other limits already bound. */
export const unlimited: Limits = { total: Number.POSITIVE_INFINITY, perCaller: Number.POSITIVE_INFINITY }

export interface QuotaLimits extends Limits {
  /** For all callers of a network together. Without it there is no such limit. */
  readonly perNetwork?: number
  /** What each caller may have even if its network, or all together, have reached their limit: until they have twice as much. */
  readonly always?: number
}

/** If nothing is in use, one thing may be larger than the limit. Otherwise nobody could ever have it. */
function isOver(limit: number, inUse: number, amount: number): boolean {
  return inUse > 0 && inUse + amount > limit
}

/** How much each has in use, by name. */
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
}

/** Counts how much of something is in use, in total, per caller and per network, and enforces limits on all of them. */
export class Quota {
  readonly #limits: QuotaLimits
  readonly #callers = new Shares()
  readonly #networks = new Shares()
  #total = 0

  constructor(limits: QuotaLimits) {
    this.#limits = limits
  }

  /**
   * Acquires the amount, or acquires nothing and returns the limit that it would exceed. A limit of the caller's network counts as its own.
   * @param network where `perNetwork` is a limit
   */
  acquire(caller: string, amount: number, network = ''): keyof Limits | undefined {
    const { total, perCaller, perNetwork = Number.POSITIVE_INFINITY, always = 0 } = this.#limits
    const own = this.#callers.of(caller)
    if (isOver(perCaller, own, amount)) return 'perCaller'
    const extent = own + amount > always ? 1 : 2
    if (isOver(extent * perNetwork, this.#networks.of(network), amount)) return 'perCaller'
    if (isOver(extent * total, this.#total, amount)) return 'total'
    this.#add(caller, amount, network)
    return undefined
  }

  /** @param network as it was acquired with */
  release(caller: string, amount: number, network = ''): void {
    this.#add(caller, -amount, network)
  }

  #add(caller: string, amount: number, network: string): void {
    this.#callers.add(caller, amount)
    this.#networks.add(network, amount)
    this.#total += amount
  }
}
