import { Lane, type Waiting } from './lane.ts'
import { type LaneName, laneOf } from './sizes.ts'

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
  /** The weight of what was sent. `weight` is more if the write reads or changes a large order. */
  readonly size: number
}

/** The properties of an item that decide its place in the queue. */
export interface QueueRules<Item> {
  /** Returns the weight of what was sent (see sizes.ts). */
  readonly weight: (item: Item) => number
  /** Returns the id of the order that an item changes. Items of one order are done in the order of arrival. */
  readonly orderOf?: ((item: Item) => string | undefined) | undefined
  /** Returns who sent an item. Senders take turns. Items without a sender have one turn together. */
  readonly senderOf?: ((item: Item) => string | undefined) | undefined
}

/** Writes without a sender are the shop's own work. They wait as if one sender had sent them all. */
const noSender = ''

/**
 * A queue of writes. Each batch that is taken from it becomes one transaction.
 *
 * Small and large writes wait in lanes of their own, and batches of the two alternate. So a small write waits for one batch of
 * large ones, however many are queued before it. In each lane, senders take turns. The writes of one order are done one after the
 * other, in the order of arrival: each waits for its turn when the one before it is done.
 */
export class BatchQueue<Item, Result = unknown> {
  readonly #rules: QueueRules<Item>
  readonly #lanes: Readonly<Record<LaneName, Lane<Queued<Item, Result>>>> = { small: new Lane(), large: new Lane() }
  /** By order, as long as one of its writes waits for its turn or runs: the writes that came after that one. */
  readonly #orders = new Map<string, Queued<Item, Result>[]>()
  #numbers = 0
  #isLargesTurn = false

  constructor(rules: QueueRules<Item>) {
    this.#rules = rules
  }

  get length(): number {
    return this.#lanes.small.room.items + this.#lanes.large.room.items
  }

  /** @throws DomainError `store-overloaded` */
  add({ item, resolve, reject }: Pending<Item, Result>): void {
    const { weight, orderOf, senderOf } = this.#rules
    const size = weight(item)
    const sender = senderOf?.(item) ?? noSender
    const { room } = this.#lanes[laneOf(size)]
    room.require(sender, size)
    room.add(sender, size)
    const order = orderOf?.(item)
    const queued = { item, resolve, reject, order, sender, number: this.#numbers++, round: 0, size, weight: size }
    const before = order === undefined ? undefined : this.#orders.get(order)
    if (before) before.push(queued)
    else this.#start(queued)
  }

  /** Removes and returns the next batch. Each of its writes is then either put back or finished. */
  takeBatch(): Queued<Item, Result>[] {
    for (const name of this.#isLargesTurn ? (['large', 'small'] as const) : (['small', 'large'] as const)) {
      const lane = this.#lanes[name]
      const batch = lane.take()
      if (batch.length === 0) continue
      for (const { sender, size } of batch) lane.room.remove(sender, size)
      this.#isLargesTurn = name === 'small'
      return batch
    }
    return []
  }

  /**
   * Puts a write back that was taken and not done, at its place in its lane. If it is found to be large, it waits for its turn
   * among the large ones.
   * @param existing the weight of the stored orders that it reads or changes
   * @throws DomainError `store-overloaded` if it is found to be large, and too many large ones wait
   */
  putBack(queued: Queued<Item, Result>, existing: number): void {
    const { sender, size } = queued
    const weight = size + existing
    const name = laneOf(weight)
    const lane = this.#lanes[name]
    const isMoved = name !== laneOf(queued.weight)
    if (isMoved && name === 'large') lane.room.require(sender, size)
    lane.room.add(sender, size)
    lane.insert({ ...queued, weight, round: isMoved ? lane.nextRound(sender) : queued.round })
  }

  /** Call it when a write is done or has failed. The next write of its order then waits for its turn. */
  finish({ order }: Queued<Item, Result>): void {
    if (order === undefined) return
    const next = this.#orders.get(order)?.shift()
    if (next) this.#start(next)
    else this.#orders.delete(order)
  }

  /** Lets a write wait for its turn. */
  #start(queued: Queued<Item, Result>): void {
    const { order, sender, weight } = queued
    if (order !== undefined && !this.#orders.has(order)) this.#orders.set(order, [])
    const lane = this.#lanes[laneOf(weight)]
    lane.insert({ ...queued, round: lane.nextRound(sender) })
  }
}
