import type { Store } from '../../domain/store.ts'
import { entryModule } from '../../files.ts'
import { HelperThread, ThreadLost } from '../../threads/helper-thread.ts'
import { Batcher, type Settled } from '../batcher.ts'
import { changedOrder, commandSize, senderOf, tellEvents } from '../commands.ts'
import { type CommandBatch, packCommand, unpackOutcomes } from '../crossing.ts'
import { type CommandOutcome, lostWrite, notStored, type Postponed } from '../outcomes.ts'
import type { LaneName } from '../sizes.ts'
import { explained } from './explain.ts'
import { isStoreUnavailable } from './failures.ts'
import type { WriteCommand, WriteVerb } from './write-verbs.ts'
import type { WriterData } from './writer-thread.ts'

const entry = entryModule('stores/sqlite/writer-thread')

/**
 * The only writer. It runs in a separate thread, which gets the commands in batches: each batch has the commands that arrived
 * while the one before was committed. When the thread dies, its commands fail with `store-unavailable`, as do others until a
 * new thread starts.
 */
export class SqliteWriter {
  readonly #path: string
  readonly #thread: HelperThread<WriterData, CommandBatch<WriteCommand>, readonly CommandOutcome[]>
  readonly #batches = new Batcher<WriteCommand, unknown>({
    run: (batch, lane) => this.#write(batch, lane),
    weight: commandSize,
    orderOf: changedOrder,
    senderOf,
    parallel: 1,
    onEvents: tellEvents
  })
  #failing = false

  constructor(data: WriterData) {
    this.#path = data.path
    this.#thread = new HelperThread(entry, data)
  }

  /** Resolves when the thread has opened the database. @throws DomainError `store-unavailable` */
  async start(): Promise<void> {
    try {
      await this.#thread.open()
    } catch (error) {
      throw this.#lost(error)
    }
  }

  /** Whether nothing can be written, for example because the disk is full: the thread is down or the whole last batch failed. */
  get isFailing(): boolean {
    return this.#failing || !this.#thread.isUp
  }

  /** @throws the errors of the verb, and DomainError `store-unavailable`, `store-overloaded` */
  async run<V extends WriteVerb>(verb: V, ...args: Parameters<Store[V]>): Promise<Awaited<ReturnType<Store[V]>>> {
    if (!this.#thread.isUp) throw notStored()
    const value = await this.#batches.submit({ verb, args } as WriteCommand)
    return value as Awaited<ReturnType<Store[V]>>
  }

  /** Refuses new commands, and resolves when all others are answered. */
  drain(): Promise<void> {
    return this.#batches.close()
  }

  /** Drains, then closes the database. */
  async close(): Promise<void> {
    await this.drain()
    await this.#thread.close()
  }

  /** Kills the thread at once, like a crash: for tests. */
  kill(): Promise<void> {
    return this.#thread.kill()
  }

  async #write(batch: readonly WriteCommand[], lane: LaneName): Promise<readonly (Settled<unknown> | Postponed)[]> {
    try {
      const outcomes = await this.#thread.ask({ commands: batch.map(packCommand), lane })
      this.#failing = outcomes.length > 0 && outcomes.every(isStoreUnavailable)
      return unpackOutcomes(batch, outcomes)
    } catch (error) {
      throw this.#lost(error)
    }
  }

  #lost(error: unknown): Error {
    if (error instanceof ThreadLost) return lostWrite(error, explained(error.cause, this.#path))
    return new Error("a command cannot be sent to the database's writer", { cause: error })
  }
}
