import type { Store } from '../../domain/store.ts'
import { BatchQueue, type Pending } from '../batch-queue.ts'
import { packCommand, unpackOutcomes } from '../crossing.ts'
import { DatabaseThread, ThreadLost } from '../database-thread.ts'
import { type CommandOutcome, fromFailure, lostWrite, notStored } from '../outcomes.ts'
import { entryBeside } from '../threads.ts'
import { commandSize } from './command-size.ts'
import { explained } from './explain.ts'
import { isStoreUnavailable } from './failures.ts'
import type { WriterData } from './writer-thread.ts'
import type { WriteCommand, WriteVerb } from './writes.ts'

const entry = entryBeside(import.meta.url, 'writer-thread')

/**
 * The only writer. It runs in a separate thread, which gets the commands in batches: each batch has the commands that arrived
 * while the one before was committed. When the thread dies, its commands and the waiting ones fail with `store-unavailable`,
 * and a new thread starts.
 */
export class SqliteWriter {
  readonly #path: string
  readonly #thread: DatabaseThread<WriterData, readonly WriteCommand[], readonly CommandOutcome[]>
  readonly #waiting = new BatchQueue<WriteCommand>(commandSize)
  #isBusy = false
  #flushing = false
  #failing = false
  #draining: Promise<void> | undefined
  /** Ends the wait of `drain` when the queue is empty. */
  #settled: (() => void) | undefined

  constructor(data: WriterData) {
    this.#path = data.path
    this.#thread = new DatabaseThread(entry, data)
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
    const command: WriteCommand = { verb, args }
    if (this.#draining || !this.#thread.isUp) throw notStored()
    const value = await new Promise<unknown>((resolve, reject) => {
      this.#waiting.add({ item: command, resolve, reject })
      this.#flushSoon()
    })
    return value as Awaited<ReturnType<Store[V]>>
  }

  /** Refuses new commands, and resolves when all others are answered. */
  drain(): Promise<void> {
    this.#draining ??= this.#drain()
    return this.#draining
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

  async #drain(): Promise<void> {
    if (this.#isBusy || this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#settled = resolve))
  }

  /** Flushes at the end of this turn of the event loop, so that all commands of the turn share one commit. */
  #flushSoon(): void {
    if (this.#flushing || this.#isBusy || this.#waiting.length === 0) return
    this.#flushing = true
    setImmediate(() => {
      this.#flushing = false
      if (!this.#isBusy) void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    this.#isBusy = true
    while (this.#waiting.length > 0) await this.#write(this.#waiting.takeBatch())
    this.#isBusy = false
    this.#settled?.()
  }

  async #write(batch: readonly Pending<WriteCommand>[]): Promise<void> {
    try {
      this.#answer(batch, await this.#thread.ask(batch.map(({ item }) => packCommand(item))))
    } catch (error) {
      const reason = this.#lost(error)
      for (const { reject } of batch) reject(reason)
      if (error instanceof ThreadLost) for (const { reject } of this.#waiting.takeAll()) reject(notStored(reason.cause))
    }
  }

  #lost(error: unknown): Error {
    if (error instanceof ThreadLost) return lostWrite(error, explained(error.cause, this.#path))
    return new Error("a command cannot be sent to the database's writer", { cause: error })
  }

  #answer(batch: readonly Pending<WriteCommand>[], answer: readonly CommandOutcome[]): void {
    this.#failing = answer.length > 0 && answer.every(isStoreUnavailable)
    const outcomes = unpackOutcomes(
      batch.map(({ item }) => item),
      answer
    )
    for (const [i, { item, resolve, reject }] of batch.entries()) {
      const outcome = outcomes[i]
      if (outcome && 'value' in outcome) resolve(outcome.value)
      else reject(outcome ? fromFailure(outcome.failure, item.verb) : notStored())
    }
  }
}
