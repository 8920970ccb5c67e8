import { DomainError } from '../domain/errors.ts'

/** A write that waits, and who waits for it. */
export interface Pending<Item, Result = unknown> {
  readonly item: Item
  readonly resolve: (value: Result) => void
  readonly reject: (error: unknown) => void
}

interface Weighed<Item, Result> {
  readonly pending: Pending<Item, Result>
  readonly weight: number
}

/** What may wait, in items and in their weight; and the weight that closes a batch, which bounds how long one commit keeps the rest waiting. */
const most = { items: 10_000, weight: 250_000, batch: 2_000 } as const

/** Writes on their way to a database, in the order in which they came; they leave in batches, each of which is one transaction. */
export class BatchQueue<Item, Result = unknown> {
  readonly #weigh: (item: Item) => number
  #waiting: Weighed<Item, Result>[] = []
  #weight = 0

  /** @param weigh what an item weighs in a batch (`sizes.ts`) */
  constructor(weigh: (item: Item) => number) {
    this.#weigh = weigh
  }

  get length(): number {
    return this.#waiting.length
  }

  /** An item heavier than all that may wait is taken when nothing else waits. @throws DomainError `store-overloaded` */
  add(pending: Pending<Item, Result>): void {
    const weight = this.#weigh(pending.item)
    const hasRoom = this.length === 0 || (this.length < most.items && this.#weight + weight <= most.weight)
    if (!hasRoom)
      throw new DomainError('store-overloaded', 'More is being written than the shop can take now. Nothing was stored; try again soon.')
    this.#waiting.push({ pending, weight })
    this.#weight += weight
  }

  /** The next batch: at least one item, when there is one. */
  takeBatch(): Pending<Item, Result>[] {
    let size = 0
    let count = 0
    for (const { weight } of this.#waiting) {
      if (size >= most.batch) break
      size += weight
      count++
    }
    this.#weight -= size
    return this.#waiting.splice(0, count).map(({ pending }) => pending)
  }

  takeAll(): Pending<Item, Result>[] {
    this.#weight = 0
    return this.#waiting.splice(0).map(({ pending }) => pending)
  }
}
