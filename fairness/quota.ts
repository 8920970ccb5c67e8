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

export type ExceededLimit = 'total' | 'perCaller' | 'perNetwork'

/** While nothing is in use, the limit may be exceeded. Otherwise nobody could ever have something that is larger than the limit. */
function isOver(limit: number, used: number, amount: number): boolean {
  return used > 0 && used + amount > limit
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
    const { name, network } = holder
    const { total, perCaller, perNetwork, small } = this.#limits
    const own = this.#callers.of(name)
    const factor = own + amount <= small ? 1.5 : 1
    if (isOver(perCaller, own, amount)) return 'perCaller'
    if (isOver(factor * perNetwork, this.#networks.of(network), amount)) return 'perNetwork'
    if (isOver(factor * total, this.#callers.total, amount)) return 'total'
    this.#add(holder, amount)
    return undefined
  }

  release(holder: Holder, amount: number): void {
    this.#add(holder, -amount)
  }

  #add({ name, network }: Holder, amount: number): void {
    this.#callers.add(name, amount)
    this.#networks.add(network, amount)
  }
}
