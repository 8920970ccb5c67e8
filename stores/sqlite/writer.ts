import type { Worker } from 'node:worker_threads'
import type { Store } from '../../domain/store.ts'
import { explained } from './explain.ts'
import { fromFailure, isLost, type Outcome, unavailable, unknown } from './failures.ts'
import { type Pending, Queue } from './queue.ts'
import type { FromThread, ToThread } from './thread-entry.ts'
import { returnThread, takeThread } from './threads.ts'
import type { WriterData } from './writer-thread.ts'
import type { Command, WriteVerb } from './writes.ts'

type ToWriter = ToThread<WriterData, readonly Command[]>
type FromWriter = FromThread<readonly Outcome[]>

/** Milliseconds between attempts to start a thread after the first, doubled from one to the next. */
const backOff = { first: 50, last: 2_000 } as const

/**
 * The one writer, in a thread of its own: commands go to it in batches, each of whatever has come while the one before
 * was being committed. When the thread dies, what it had and what waits is answered `store-unavailable`, and another is
 * started.
 */
export class SqliteWriter {
  readonly #data: WriterData
  readonly #waiting = new Queue()
  #thread: Worker | undefined
  #state: 'down' | 'starting' | 'idle' | 'busy' = 'down'
  #inFlight: readonly Pending[] = []
  #flushing = false
  #failing = false
  #delay = 0
  #restart: NodeJS.Timeout | undefined
  #draining: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Called when nothing waits any more, or when the thread has no database any more. */
  #settled: (() => void) | undefined

  constructor(data: WriterData) {
    this.#data = data
  }

  /** Resolves when a thread has the database open. @throws DomainError `store-unavailable` */
  start(): Promise<void> {
    return new Promise((resolve, reject) => this.#start(resolve, reject))
  }

  /** Whether the last batch could not be written at all: the disk is full, the file gone. */
  get isFailing(): boolean {
    return this.#failing || this.#state === 'down'
  }

  /** @throws what the verb throws, and DomainError `store-unavailable`, `store-overloaded` */
  async run<V extends WriteVerb>(verb: V, ...args: Parameters<Store[V]>): Promise<Awaited<ReturnType<Store[V]>>> {
    const command: Command<V> = { verb, args }
    if (this.#draining || this.#state === 'down') throw unavailable()
    this.#waiting.checkRoom(command)
    const value = await new Promise<unknown>((resolve, reject) => {
      this.#waiting.add({ command, resolve, reject })
      this.#flushSoon()
    })
    return value as Awaited<ReturnType<Store[V]>>
  }

  /** Takes no more commands, and resolves when those that it has are answered. */
  drain(): Promise<void> {
    this.#draining ??= this.#drain()
    return this.#draining
  }

  /** Drains, then closes the database. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Ends the thread where it stands, as a crash would: for tests. */
  async kill(): Promise<void> {
    await this.#thread?.terminate()
  }

  async #drain(): Promise<void> {
    clearTimeout(this.#restart)
    if (this.#waiting.length + this.#inFlight.length > 0) await new Promise<void>((resolve) => (this.#settled = resolve))
  }

  async #close(): Promise<void> {
    await this.drain()
    const thread = this.#thread
    if (!thread) return
    const settled = new Promise<void>((resolve) => (this.#settled = resolve))
    thread.postMessage('close' satisfies ToWriter)
    await settled
  }

  #start(opened?: () => void, failed?: (error: Error) => void): void {
    const thread = takeThread('writer')
    let cause: unknown
    this.#thread = thread
    this.#state = 'starting'
    thread.on('message', (message: FromWriter) => {
      if (message === 'closed') return this.#closed(thread)
      if (message !== 'opened') return this.#answer(message.answer)
      this.#state = 'idle'
      opened?.()
      this.#flushSoon()
    })
    thread.on('error', (error) => (cause = error))
    thread.on('exit', () => {
      const again = !failed || this.#state !== 'starting'
      cause = explained(cause, this.#data.path)
      this.#lost(cause)
      if (again && !this.#draining) this.#startLater()
      failed?.(unavailable(cause))
    })
    thread.postMessage({ open: this.#data } satisfies ToWriter)
  }

  #startLater(): void {
    this.#restart = setTimeout(() => this.#start(), this.#delay)
    this.#delay = Math.min(Math.max(this.#delay * 2, backOff.first), backOff.last)
  }

  #closed(thread: Worker): void {
    returnThread('writer', thread)
    this.#lost()
  }

  #lost(cause?: unknown): void {
    this.#thread = undefined
    this.#state = 'down'
    const [sent, waiting] = [this.#inFlight, this.#waiting.takeAll()]
    this.#inFlight = []
    for (const { reject } of sent) reject(unknown(cause))
    for (const { reject } of waiting) reject(unavailable(cause))
    this.#settled?.()
  }

  /** After whatever else this turn of the event loop brings, so that it shares the commit. */
  #flushSoon(): void {
    if (this.#flushing || this.#state !== 'idle' || this.#waiting.length === 0) return
    this.#flushing = true
    setImmediate(() => {
      this.#flushing = false
      if (this.#state === 'idle') this.#flush()
    })
  }

  #flush(): void {
    const batch = this.#waiting.takeBatch()
    try {
      this.#thread?.postMessage({ ask: batch.map(({ command }) => command) } satisfies ToWriter)
      this.#inFlight = batch
      this.#state = 'busy'
    } catch (cause) {
      for (const { reject } of batch) reject(new Error("a command cannot be sent to the database's writer", { cause }))
      this.#next()
    }
  }

  #answer(outcomes: readonly Outcome[]): void {
    const answered = this.#inFlight
    this.#inFlight = []
    this.#state = 'idle'
    this.#delay = 0
    this.#failing = outcomes.length > 0 && outcomes.every(isLost)
    for (const [i, { command, resolve, reject }] of answered.entries()) {
      const outcome = outcomes[i]
      if (outcome && 'value' in outcome) resolve(outcome.value)
      else reject(outcome ? fromFailure(outcome.failure, command.verb) : unavailable())
    }
    this.#next()
  }

  #next(): void {
    if (this.#waiting.length > 0) this.#flush()
    else this.#settled?.()
  }
}
