import type { Order } from '../../domain/order.ts'
import type { Placed, Store } from '../../domain/store.ts'
import { packCommand, unpackOutcomes } from '../crossing.ts'
import { DatabaseThread, ThreadLost } from '../database-thread.ts'
import { fromFailure, lostWrite } from '../outcomes.ts'
import { orderSize } from '../sizes.ts'
import { entryBeside } from '../threads.ts'
import { Batcher, type Outcome } from './batcher.ts'
import type { OrderAnswer, OrderThreadData } from './order-thread.ts'
import type { OrderCommand } from './order-writes.ts'

type OrderVerb = OrderCommand['verb']
type Written = Placed | Order

const entry = entryBeside(import.meta.url, 'order-thread')

/** Transactions that are under way at once, each on a connection: batches of new orders, and changes. */
const parallel = { placings: 2, changes: 2 } as const

/** Connections that the thread uses at most. */
export const mostConnections = parallel.placings + parallel.changes

/**
 * Writes orders, in a thread of its own: to read, decide and write 10,000 lines takes hundreds of milliseconds. What waits
 * for it is kept here, and bounded. When the thread dies, what it had is answered `store-unavailable`, and another is started.
 */
export class OrderWriter {
  readonly #thread: DatabaseThread<OrderThreadData, readonly OrderCommand[], OrderAnswer>
  readonly #placings: Batcher<OrderCommand, Written>
  readonly #changes: Batcher<OrderCommand, Written>

  constructor(data: OrderThreadData) {
    this.#thread = new DatabaseThread(entry, data)
    const run = (batch: readonly OrderCommand[]) => this.#write(batch)
    this.#placings = new Batcher({ run, weight, parallel: parallel.placings })
    this.#changes = new Batcher({ run, weight, parallel: parallel.changes, batchWeight: 1 })
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
    const written = await (verb === 'placeOrder' ? this.#placings : this.#changes).submit(command)
    return written as Awaited<ReturnType<Store[V]>>
  }

  /** Does what waits, then ends the connections. */
  async close(): Promise<void> {
    await Promise.all([this.#placings.close(), this.#changes.close()])
    await this.#thread.close()
  }

  /** Ends the thread where it stands, as a crash would: for tests. */
  kill(): Promise<void> {
    return this.#thread.kill()
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

function weight(command: OrderCommand): number {
  if (command.verb === 'setOrderStatus') return 1
  return orderSize(command.verb === 'placeOrder' ? command.args[0].order : command.args[1])
}
