import { LargeRead } from '../../domain/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Placed, Shipped, Store } from '../../domain/store.ts'
import { entryModule } from '../../files.ts'
import { HelperThread, ThreadLost } from '../../threads/helper-thread.ts'
import { Batcher, type Settled } from '../batcher.ts'
import { changedOrder, commandSize, mostNamed, senderOf, tellEvents } from '../commands.ts'
import { type CommandBatch, packCommand, unpackOutcomes } from '../crossing.ts'
import { fromFailure, lostWrite, type Postponed } from '../outcomes.ts'
import type { LaneName } from '../sizes.ts'
import type { Database } from './database.ts'
import { isLockTimeout, ProductsLocked, tookTooLong } from './failures.ts'
import { isChange, type OrderCommand } from './order-commands.ts'
import type { OrderAnswer, OrderThreadData } from './order-thread.ts'
import { makeOrderWrites, type OrderWrites } from './order-writes.ts'

type OrderVerb = OrderCommand['verb']
type Written = Placed | Order | Shipped

const entry = entryModule('stores/postgres/order-thread')

/** The number of batches that each thread runs at once, each on its own connection. While one commits, the next is decided. */
const parallel = 2

/** The number of the pool's connections that the order thread takes. The serving thread has the others. */
export function threadConnections(poolSize: number): number {
  return Math.min(parallel, Math.floor(poolSize / 2))
}

/** For how long batches wait for no lock after one has waited in vain, in milliseconds. */
const skipping = 1_000

/** A new order of this weight or more goes to the order thread. */
const minLargeWeight = 32

/**
 * Writes orders. Parsing, deciding and writing 10,000 lines takes hundreds of milliseconds, and the size of a changed order is
 * known only after it is read. Therefore changes and large new orders go to a separate thread, as text. The serving thread
 * places small new orders itself: sending them to another thread would cost a tenth to a fifth of their rate (measured with
 * 64 clients, for orders of 1, 5 and 20 lines, on 2 cores).
 *
 * The queue is bounded. When the thread dies, its commands fail with `store-unavailable`, and another thread is started.
 */
export class OrderWriter {
  readonly #thread: HelperThread<OrderThreadData, CommandBatch<OrderCommand>, OrderAnswer>
  readonly #orderThreadQueue: Batcher<OrderCommand, Written>
  readonly #servingThreadQueue: Batcher<OrderCommand, Written>
  /** New orders of products that another transaction has locked. */
  readonly #lockedQueue: Batcher<OrderCommand, Written>
  /** Until then, on the monotonic clock, batches leave out what another transaction has locked, and try it no more. */
  #skipsUntil = 0

  /** @param database the connections of the serving thread */
  constructor(database: Database, data: OrderThreadData) {
    this.#thread = new HelperThread(entry, data)
    const rules = { weight, senderOf, parallel, onEvents: tellEvents, isOfAll: tookTooLong }
    this.#orderThreadQueue = new Batcher({ ...rules, run: (batch, lane) => this.#write(batch, lane), orderOf: changedOrder })
    const write = makeOrderWrites(database, data.currency, 'serving')
    this.#lockedQueue = new Batcher({ ...rules, run: write })
    this.#servingThreadQueue = new Batcher({ ...rules, run: (batch, lane) => this.#writeUnlocked(write, batch, lane) })
  }

  /** Resolves when the thread has started. */
  open(): Promise<void> {
    return this.#thread.open()
  }

  get isUp(): boolean {
    return this.#thread.isUp
  }

  /** @throws the errors of the verb, and DomainError `store-unavailable`, `store-overloaded` */
  async run<V extends OrderVerb>(verb: V, ...args: Parameters<Store[V]>): Promise<Awaited<ReturnType<Store[V]>>> {
    const command = { verb, args } as OrderCommand
    const isSmall = command.verb === 'placeOrder' && weight(command) < minLargeWeight
    const written = await (isSmall ? this.#placeSmall(command) : this.#orderThreadQueue.submit(command))
    return written as Awaited<ReturnType<Store[V]>>
  }

  /** Writes the waiting orders, then closes the thread's connections. */
  async close(): Promise<void> {
    await this.#servingThreadQueue.close()
    await this.#lockedQueue.close()
    await this.#orderThreadQueue.close()
    await this.#thread.close()
  }

  /** Kills the thread at once, like a crash: for tests. */
  kill(): Promise<void> {
    return this.#thread.kill()
  }

  async #placeSmall(command: OrderCommand, queue = this.#servingThreadQueue): Promise<Written> {
    try {
      return await queue.submit(command)
    } catch (error) {
      if (error instanceof ProductsLocked) return this.#placeSmall(command, this.#lockedQueue)
      if (error instanceof LargeRead && error.size <= mostNamed(command)) return this.#orderThreadQueue.submit(command)
      throw error
    }
  }

  /**
   * Writes the orders of a batch whose products no other transaction has locked. The others fail with ProductsLocked, so that they
   * alone wait for the locks: an order of 10,000 products has them for up to a second.
   */
  async #writeUnlocked(write: OrderWrites, batch: readonly OrderCommand[], lane: LaneName): ReturnType<OrderWrites> {
    if (performance.now() >= this.#skipsUntil) {
      // Small orders of the same product in two batches, here or on another replica, follow each other faster if the second batch waits.
      try {
        return await write(batch, lane, 'wait-briefly')
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        this.#skipsUntil = performance.now() + skipping
      }
    }
    return write(batch, lane, 'skip')
  }

  async #write(batch: readonly OrderCommand[], lane: LaneName): Promise<readonly (Settled<Written> | Postponed)[]> {
    const answer = await this.#ask(batch, lane)
    if ('failure' in answer) throw fromFailure(answer.failure, batch[0]?.verb ?? 'writing orders')
    const outcomes: readonly (Settled<Written> | Postponed)[] = unpackOutcomes(batch, answer.outcomes)
    return outcomes.map((outcome, i) => ('postponed' in outcome ? { postponed: unassumed(outcome.postponed, batch[i]) } : outcome))
  }

  async #ask(batch: readonly OrderCommand[], lane: LaneName): Promise<OrderAnswer> {
    try {
      return await this.#thread.ask({ commands: batch.map(packCommand), lane })
    } catch (error) {
      throw error instanceof ThreadLost ? lostWrite(error, error.cause) : error
    }
  }
}

/**
 * The assumed weight of the stored order of a change. Its real size is known only in the transaction, so a batch has few changes. When
 * the stored orders are more than a batch may weigh, the order thread postpones the rest of the batch.
 */
const existingWeight = 200

/** The weight that the queue must add to a postponed command. The weight of a change already has the assumed weight of its order. */
function unassumed(postponed: number, command: OrderCommand | undefined): number {
  return command && isChange(command) ? Math.max(0, postponed - existingWeight) : postponed
}

function weight(command: OrderCommand): number {
  return commandSize(command) + (isChange(command) ? existingWeight : 0)
}
