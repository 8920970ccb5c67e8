import { DomainError } from '../domain/errors.ts'

/** A write that waits, with the promise of its caller. */
export interface Pending<Item, Result = unknown> {
  readonly item: Item
  readonly resolve: (value: Result) => void
  readonly reject: (error: unknown) => void
}

interface Weighed<Item, Result> {
  readonly pending: Pending<Item, Result>
  readonly weight: number
}

/** The limits of items, and of their weight, that may wait. A batch ends at its weight, which bounds how long one commit delays the rest. */
const most = { items: 10_000, weight: 250_000, batch: 2_000 } as const

/** Writes that wait for the database, in the order of arrival. They leave in batches; each batch is one transaction. */
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

  /** An item above the limit of weight is accepted when nothing else waits. @throws DomainError `store-overloaded` */
  add(pending: Pending<Item, Result>): void {
    const weight = this.#weigh(pending.item)
    const hasRoom = this.length === 0 || (this.length < most.items && this.#weight + weight <= most.weight)
    if (!hasRoom)
      throw new DomainError('store-overloaded', 'More is being written than the shop can take now. Nothing was stored; try again soon.')
    this.#waiting.push({ pending, weight })
    this.#weight += weight
  }

  /** The next batch. It is empty only when nothing waits. */
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
