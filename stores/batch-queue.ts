import { DomainError } from '../domain/errors.ts'

/** A queued write and the promise of its caller. */
export interface Pending<Item, Result> {
  readonly item: Item
  readonly resolve: (value: Result) => void
  readonly reject: (error: unknown) => void
}

interface Weighed<Item, Result> {
  readonly pending: Pending<Item, Result>
  readonly weight: number
}

/** The limits of the queue, and the weight of one batch. A batch is limited so that one commit does not delay the others for long. */
const limits = { items: 10_000, weight: 250_000, batch: 2_000 } as const

/** A queue of writes, in the order of arrival. Each batch that is taken from it becomes one transaction. */
export class BatchQueue<Item, Result = unknown> {
  readonly #weigh: (item: Item) => number
  #waiting: Weighed<Item, Result>[] = []
  #weight = 0

  /** @param weigh returns the weight of an item (see sizes.ts) */
  constructor(weigh: (item: Item) => number) {
    this.#weigh = weigh
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Accepts an item of any weight when the queue is empty. @throws DomainError `store-overloaded` */
  add(pending: Pending<Item, Result>): void {
    const weight = this.#weigh(pending.item)
    const hasRoom = this.length === 0 || (this.length < limits.items && this.#weight + weight <= limits.weight)
    if (!hasRoom)
      throw new DomainError('store-overloaded', 'Too many writes are waiting right now. Nothing was stored. Try again in a few seconds.')
    this.#waiting.push({ pending, weight })
    this.#weight += weight
  }

  /** Removes and returns the next batch. It is empty only if the queue is empty. */
  takeBatch(): Pending<Item, Result>[] {
    let size = 0
    let count = 0
    for (const { weight } of this.#waiting) {
      if (size >= limits.batch) break
      size += weight
      count++
    }
    this.#weight -= size
    return this.#waiting.splice(0, count).map(({ pending }) => pending)
  }
}
