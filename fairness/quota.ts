import { Amounts } from './amounts.ts'

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

const limitNames = ['perCaller', 'perNetwork', 'total'] as const

export type ExceededLimit = (typeof limitNames)[number]

/**
 * The amount to free before `amount` fits. If nothing is in use, any amount fits, so that a single large one can be handled at all.
 */
function excessOf(limit: number, used: number, amount: number): number {
  return Math.max(0, Math.min(used, used + amount - limit))
}

/** Counts how much of something is in use, in total, per caller and per network, and enforces limits on all of them. */
export class Quota {
  readonly #limits: Required<QuotaLimits>
  readonly #callers = new Amounts()
  readonly #networks = new Amounts()

  constructor(limits: QuotaLimits) {
    this.#limits = { perNetwork: Number.POSITIVE_INFINITY, small: 0, ...limits }
  }

  /** Acquires the amount, or acquires nothing and returns the limit that it would exceed. */
  acquire(holder: Holder, amount: number): ExceededLimit | undefined {
    const excess = this.excess(holder, amount)
    const exceeded = limitNames.find((limit) => excess[limit] > 0)
    if (exceeded === undefined) this.#add(holder, amount)
    return exceeded
  }

  /** How much has to be given back, of what each limit counts, before the amount can be acquired. */
  excess({ name, network }: Holder, amount: number): Readonly<Record<ExceededLimit, number>> {
    const { total, perCaller, perNetwork, small } = this.#limits
    const own = this.#callers.of(name)
    const factor = own + amount <= small ? 1.5 : 1
    return {
      perCaller: excessOf(perCaller, own, amount),
      perNetwork: excessOf(factor * perNetwork, this.#networks.of(network), amount),
      total: excessOf(factor * total, this.#callers.total, amount)
    }
  }

  /** The amount that all requests of a caller have together. */
  usedBy({ name }: Holder): number {
    return this.#callers.of(name)
  }

  release(holder: Holder, amount: number): void {
    this.#add(holder, -amount)
  }

  #add({ name, network }: Holder, amount: number): void {
    this.#callers.add(name, amount)
    this.#networks.add(network, amount)
  }
}
