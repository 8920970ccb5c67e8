import { DomainError } from '../domain/errors.ts'
import { batchWeight } from './sizes.ts'

/** A queued write and the promise of its caller. */
export interface Pending<Item, Result> {
  readonly item: Item
  readonly resolve: (value: Result) => void
  readonly reject: (error: unknown) => void
}

/** A write in the queue, or in a batch that was taken from it. */
export interface Queued<Item, Result> extends Pending<Item, Result> {
  /** The writes are numbered in the order of arrival. */
  readonly number: number
  /** The weight of what was sent. The queue is limited by it, because it is in memory. */
  readonly size: number
  /** The weight of the work. It is more than `size` if the write reads or changes a large order. */
  readonly weight: number
}

interface Weights<Item> {
  /** Returns the weight of what was sent (see sizes.ts). */
  readonly weight: (item: Item) => number
  /** Returns the id of the order that an item changes. Writes of one order stay in the order of arrival. */
  readonly orderOf?: ((item: Item) => string | undefined) | undefined
}

/** The limits of each lane. */
const limits = { items: 10_000, weight: 250_000 } as const

/** A write of this weight or more is large. */
const minLarge = 256

type Lane = 'small' | 'large'

const laneOf = (weight: number): Lane => (weight < minLarge ? 'small' : 'large')

/**
 * A queue of writes. Each batch that is taken from it becomes one transaction.
 *
 * Small and large writes wait in lanes of their own, and batches of the two alternate. So a small write waits for one batch of
 * large ones, however many are queued before it. In each lane, writes are in the order of arrival. A large write is never
 * taken before a small one that came earlier. A write of an order waits while a batch with another write of that order runs.
 */
export class BatchQueue<Item, Result = unknown> {
  readonly #weights: Weights<Item>
  readonly #lanes: Readonly<Record<Lane, Queued<Item, Result>[]>> = { small: [], large: [] }
  readonly #sizes: Record<Lane, number> = { small: 0, large: 0 }
  /** The orders that running batches change. */
  readonly #running = new Set<string>()
  #numbers = 0
  #isLargesTurn = false

  constructor(weights: Weights<Item>) {
    this.#weights = weights
  }

  get length(): number {
    return this.#lanes.small.length + this.#lanes.large.length
  }

  /** Accepts an item of any weight when its lane is empty. @throws DomainError `store-overloaded` */
  add(pending: Pending<Item, Result>): void {
    const size = this.#weights.weight(pending.item)
    const lane = laneOf(size)
    this.#requireRoom(lane, size)
    const { item, resolve, reject } = pending
    this.#lanes[lane].push({ item, resolve, reject, number: this.#numbers++, size, weight: size })
    this.#sizes[lane] += size
  }

  /**
   * Puts a write back that was taken and not done, at its place in the order of arrival.
   * @param existing the weight of the stored orders that it reads or changes
   * @throws DomainError `store-overloaded` if it is found to be large, and too many large ones wait
   */
  putBack(queued: Queued<Item, Result>, existing: number): void {
    const { size, number } = queued
    const weight = size + existing
    const lane = laneOf(weight)
    if (lane === 'large') this.#requireRoom(lane, size)
    const waiting = this.#lanes[lane]
    const index = waiting.findIndex((other) => other.number > number)
    waiting.splice(index < 0 ? waiting.length : index, 0, { ...queued, weight })
    this.#sizes[lane] += size
  }

  #requireRoom(lane: Lane, size: number): void {
    const { length } = this.#lanes[lane]
    if (length === 0 || (length < limits.items && this.#sizes[lane] + size <= limits.weight)) return
    throw new DomainError('store-overloaded', 'Too many writes are waiting right now. Nothing was stored. Try again in a few seconds.')
  }

  /** Removes and returns the next batch. It is empty if every waiting write must wait for a running batch. */
  takeBatch(): Queued<Item, Result>[] {
    for (const lane of this.#isLargesTurn ? (['large', 'small'] as const) : (['small', 'large'] as const)) {
      const batch = takeFirst(this.#lanes[lane], lane === 'small' ? this.#maySmallGo() : this.#mayLargeGo())
      if (batch.length === 0) continue
      this.#isLargesTurn = lane === 'small'
      for (const { item, size } of batch) {
        this.#sizes[lane] -= size
        const order = this.#weights.orderOf?.(item)
        if (order !== undefined) this.#running.add(order)
      }
      return batch
    }
    return []
  }

  /** Call this when a batch has run, and what it did not do was put back. */
  finish(batch: readonly Queued<Item, Result>[]): void {
    if (this.#running.size === 0) return
    for (const { item } of batch) this.#running.delete(this.#weights.orderOf?.(item) ?? '')
  }

  #isRunning(item: Item): boolean {
    return this.#running.size > 0 && this.#running.has(this.#weights.orderOf?.(item) ?? '')
  }

  /** A small write goes before a large one that came earlier, but not before one of the same order. */
  #maySmallGo(): (queued: Queued<Item, Result>) => boolean {
    const { orderOf } = this.#weights
    if (!orderOf || this.#lanes.large.length === 0) return ({ item }) => !this.#isRunning(item)
    const firstLarge = new Map<string | undefined, number>()
    for (const { item, number } of this.#lanes.large.toReversed()) firstLarge.set(orderOf(item), number)
    firstLarge.delete(undefined)
    return ({ item, number }) => !this.#isRunning(item) && number < (firstLarge.get(orderOf(item)) ?? Number.POSITIVE_INFINITY)
  }

  #mayLargeGo(): (queued: Queued<Item, Result>) => boolean {
    const before = this.#lanes.small[0]?.number ?? Number.POSITIVE_INFINITY
    return ({ item, number }) => number < before && !this.#isRunning(item)
  }
}

/** Removes from a lane the first writes that may go, until a batch is full. */
function takeFirst<Item, Result>(lane: Queued<Item, Result>[], mayGo: (queued: Queued<Item, Result>) => boolean): Queued<Item, Result>[] {
  const taken: Queued<Item, Result>[] = []
  const left: Queued<Item, Result>[] = []
  let weight = 0
  let seen = 0
  for (const queued of lane) {
    if (weight >= batchWeight) break
    seen++
    if (mayGo(queued)) {
      taken.push(queued)
      weight += queued.weight
    } else left.push(queued)
  }
  lane.splice(0, seen, ...left)
  return taken
}
