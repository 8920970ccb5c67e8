import { Lane, type Waiting } from './lane.ts'

/** A queued write and the promise of its caller. */
export interface Pending<Item, Result> {
  readonly item: Item
  readonly resolve: (value: Result) => void
  readonly reject: (error: unknown) => void
}

/** A write in the queue, or in a batch that was taken from it. */
export interface Queued<Item, Result> extends Pending<Item, Result>, Waiting {
  /** The id of the order that it changes. */
  readonly order: string | undefined
}

interface Weights<Item> {
  /** Returns the weight of what was sent (see sizes.ts). */
  readonly weight: (item: Item) => number
  /** Returns the id of the order that an item changes. Writes of one order stay in the order of arrival. */
  readonly orderOf?: ((item: Item) => string | undefined) | undefined
  /** Returns who sent an item that changes no order. */
  readonly senderOf?: ((item: Item) => string | undefined) | undefined
}

/** A write of this weight or more is large. */
const minLarge = 256

type LaneName = 'small' | 'large'

const laneOf = (weight: number): LaneName => (weight < minLarge ? 'small' : 'large')

/**
 * A queue of writes. Each batch that is taken from it becomes one transaction.
 *
 * Small and large writes wait in lanes of their own, and batches of the two alternate. So a small write waits for one batch of
 * large ones, however many are queued before it. In each lane, senders take turns, and each order that is changed has its own turn.
 * A large write is never taken before a small one of the same turn that came earlier. A write of an order waits while a batch
 * with another write of that order runs.
 */
export class BatchQueue<Item, Result = unknown> {
  readonly #weights: Weights<Item>
  readonly #lanes: Readonly<Record<LaneName, Lane<Queued<Item, Result>>>> = { small: new Lane(), large: new Lane() }
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

  /** @throws DomainError `store-overloaded` */
  add({ item, resolve, reject }: Pending<Item, Result>): void {
    const { weight, orderOf, senderOf } = this.#weights
    const size = weight(item)
    const order = orderOf?.(item)
    const turn = order ?? senderOf?.(item) ?? ''
    const lane = this.#lanes[laneOf(size)]
    lane.requireRoom(turn, size)
    lane.insert({ item, resolve, reject, order, turn, number: this.#numbers++, round: lane.nextRound(turn), size, weight: size })
  }

  /**
   * Puts a write back that was taken and not done, at its place in its lane. If it is found to be large, it waits for its turn
   * among the large ones.
   * @param existing the weight of the stored orders that it reads or changes
   * @throws DomainError `store-overloaded` if it is found to be large, and too many large ones wait
   */
  putBack(queued: Queued<Item, Result>, existing: number): void {
    const { order, turn, size } = queued
    const weight = size + existing
    const name = laneOf(weight)
    const lane = this.#lanes[name]
    if (name === laneOf(queued.weight)) {
      lane.insert({ ...queued, weight })
      return
    }
    if (name === 'large') lane.requireRoom(turn, size)
    lane.insert({ ...queued, weight, round: order === undefined ? lane.nextRound(turn) : lane.roundAmong(queued) })
  }

  /** Removes and returns the next batch. It is empty if every waiting write must wait for a running batch. */
  takeBatch(): Queued<Item, Result>[] {
    for (const lane of this.#isLargesTurn ? (['large', 'small'] as const) : (['small', 'large'] as const)) {
      if (this.#lanes[lane].length === 0) continue
      const batch = this.#lanes[lane].take(lane === 'small' ? this.#maySmallGo() : this.#mayLargeGo())
      if (batch.length === 0) continue
      this.#isLargesTurn = lane === 'small'
      for (const { order } of batch) if (order !== undefined) this.#running.add(order)
      return batch
    }
    return []
  }

  /** Call this when a batch has run, and what it did not do was put back. */
  finish(batch: readonly Queued<Item, Result>[]): void {
    for (const { order } of batch) if (order !== undefined) this.#running.delete(order)
  }

  /** A small write goes before a large one that came earlier, but not before one of the same order. */
  #maySmallGo(): (queued: Queued<Item, Result>) => boolean {
    const firstLarge = this.#lanes.large.firstNumbers()
    return ({ order, number }) =>
      order === undefined || (!this.#running.has(order) && number < (firstLarge.get(order) ?? Number.POSITIVE_INFINITY))
  }

  #mayLargeGo(): (queued: Queued<Item, Result>) => boolean {
    const firstSmall = this.#lanes.small.firstNumbers()
    return ({ order, turn, number }) =>
      number < (firstSmall.get(turn) ?? Number.POSITIVE_INFINITY) && (order === undefined || !this.#running.has(order))
  }
}
