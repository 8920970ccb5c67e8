import type { Order } from '../../domain/order.ts'
import type { Placed, Store } from '../../domain/store.ts'
import { packCommand, unpackOutcomes } from '../crossing.ts'
import { DatabaseThread, ThreadLost } from '../database-thread.ts'
import { fromFailure, lostWrite } from '../outcomes.ts'
import { orderSize } from '../sizes.ts'
import { entryBeside } from '../threads.ts'
import { Batcher, type Outcome } from './batcher.ts'
import type { Database } from './database.ts'
import type { OrderAnswer, OrderThreadData } from './order-thread.ts'
import { LargeTwin, makeOrderWrites, type OrderCommand } from './order-writes.ts'

type OrderVerb = OrderCommand['verb']
type Written = Placed | Order

const entry = entryBeside(import.meta.url, 'order-thread')

/** Batches that are under way at once in each thread, on a connection each: while one is committed, the next is decided. */
const parallel = 2

/** Connections that the thread takes out of so many; the others are the serving thread's. */
export function threadConnections(poolSize: number): number {
  return Math.min(parallel, Math.floor(poolSize / 2))
}

/** The weight below which an order is small. */
const leastBeside = 32

/**
 * Writes orders. To parse, decide and write 10,000 lines takes hundreds of milliseconds, and how large an order is that is
 * changed shows only when it is read: changes, and new orders but for small ones, go to a thread of their own, as text. Small
 * ones are placed in the thread that serves: the way to another and back would cost a tenth to a fifth of their rate (measured
 * with 64 clients, for orders of 1, 5 and 20 lines, on 2 cores).
 *
 * What waits is bounded. When the thread dies, what it had is answered `store-unavailable`, and another is started.
 */
export class OrderWriter {
  readonly #thread: DatabaseThread<OrderThreadData, readonly OrderCommand[], OrderAnswer>
  readonly #beside: Batcher<OrderCommand, Written>
  readonly #serving: Batcher<OrderCommand, Written>

  /** @param database the serving thread's */
  constructor(database: Database, data: OrderThreadData) {
    this.#thread = new DatabaseThread(entry, data)
    this.#beside = new Batcher({ run: (batch) => this.#write(batch), weight, parallel })
    this.#serving = new Batcher({ run: makeOrderWrites(database, data.currency, 'serving'), weight, parallel })
  }

  /** Resolves when there is a thread. */
  open(): Promise<void> {
    return this.#thread.open()
  }

  get isUp(): boolean {
    return this.#thread.isUp
  }

  /** @throws what the verb throws, and DomainError `store-unavailable`, `store-overloaded` */
  async run<V extends OrderVerb>(verb: V, ...args: Parameters<Store[V]>): Promise<Awaited<ReturnType<Store[V]>>> {
    const command = { verb, args } as OrderCommand
    const isSmall = command.verb === 'placeOrder' && weight(command) < leastBeside
    const written = await (isSmall ? this.#placeSmall(command) : this.#beside.submit(command))
    return written as Awaited<ReturnType<Store[V]>>
  }

  /** Does what waits, then ends the thread's connections. */
  async close(): Promise<void> {
    await this.#serving.close()
    await this.#beside.close()
    await this.#thread.close()
  }

  /** Ends the thread where it stands, as a crash would: for tests. */
  kill(): Promise<void> {
    return this.#thread.kill()
  }

  async #placeSmall(command: OrderCommand): Promise<Written> {
    try {
      return await this.#serving.submit(command)
    } catch (error) {
      if (error instanceof LargeTwin) return this.#beside.submit(command)
      throw error
    }
  }

  async #write(batch: readonly OrderCommand[]): Promise<readonly Outcome<Written>[]> {
    const answer = await this.#ask(batch)
    const verb = batch[0]?.verb ?? 'writing orders'
    if ('failure' in answer) throw fromFailure(answer.failure, verb)
    return unpackOutcomes(batch, answer.outcomes).map((outcome) =>
      'value' in outcome ? { value: outcome.value as Written } : { error: fromFailure(outcome.failure, verb) }
    )
  }

  async #ask(batch: readonly OrderCommand[]): Promise<OrderAnswer> {
    try {
      return await this.#thread.ask(batch.map(packCommand))
    } catch (error) {
      throw error instanceof ThreadLost ? lostWrite(error, error.cause) : error
    }
  }
}

/** Of an order that stands. It is read whole, and how large it is shows only then: as if it had this many lines. */
const standingWeight = 200

function weight(command: OrderCommand): number {
  if (command.verb === 'placeOrder') return orderSize(command.args[0].order)
  return standingWeight + (command.verb === 'changeOrder' ? orderSize(command.args[1]) : 0)
}
