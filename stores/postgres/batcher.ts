import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../../domain/errors.ts'
import { BatchQueue, type Pending } from '../batch-queue.ts'
import { isRace, overloaded, unavailable } from './failures.ts'

export type Settled<T> = { readonly value: T } | { readonly error: unknown }

export interface Work<Item, Result> {
  /** Runs a batch as one transaction. The outcomes are in the order of the items. */
  run(items: readonly Item[]): Promise<readonly Settled<Result>[]>
  /** The weight of an item in a batch. */
  readonly weight: (item: Item) => number
  /** The number of batches that may be in progress at once. */
  readonly parallel: number
}

/** The most attempts when a transaction conflicts with others. */
const attempts = 6
/** The delay before the second attempt, in milliseconds. It doubles for each further attempt, and has jitter. */
const firstPause = 5

/** Collects the items that arrive while a batch runs into the next batch: one transaction, one commit, few round trips. */
export class Batcher<Item, Result> {
  readonly #work: Work<Item, Result>
  readonly #waiting: BatchQueue<Item, Result>
  #running = 0
  #flushing = false
  #closed = false
  #drained: (() => void) | undefined

  constructor(work: Work<Item, Result>) {
    this.#work = work
    this.#waiting = new BatchQueue(work.weight)
  }

  /** @throws the error of the item, and DomainError `store-unavailable`, `store-overloaded` */
  submit(item: Item): Promise<Result> {
    if (this.#closed) return Promise.reject(unavailable())
    return new Promise((resolve, reject) => {
      this.#waiting.add({ item, resolve, reject })
      this.#flushSoon()
    })
  }

  /** Refuses new items, and resolves when the waiting ones are done. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#running > 0 || this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#drained = resolve))
  }

  /** Flushes at the end of this turn of the event loop, so that all items of the turn share one commit. */
  #flushSoon(): void {
    if (this.#flushing || this.#running >= this.#work.parallel || this.#waiting.length === 0) return
    this.#flushing = true
    setImmediate(() => {
      this.#flushing = false
      void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.takeBatch()
    this.#running += 1
    this.#flushSoon()
    await this.#settle(batch)
    this.#running -= 1
    this.#flushSoon()
    if (this.#running === 0 && this.#waiting.length === 0) this.#drained?.()
  }

  async #settle(batch: readonly Pending<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await this.#work.run(batch.map(({ item }) => item))
      for (const [i, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[i]
        if (outcome && 'value' in outcome) resolve(outcome.value)
        else reject(outcome ? outcome.error : new Error('a batch left an item without an outcome'))
      }
    } catch (error) {
      // If the database refuses one item, each is tried alone, so that the others succeed. If it cannot be reached, all fail.
      const isTriedAlone = batch.length > 1 && !(error instanceof DomainError && error.code === 'store-unavailable')
      if (isTriedAlone) for (const pending of batch) await this.#settle([pending])
      else for (const { reject } of batch) reject(error)
    }
  }
}

/** Retries a transaction that conflicts with others. @throws DomainError `store-overloaded` if the last attempt conflicts too */
export async function retrying<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (!isRace(error)) throw error
      if (attempt === attempts) throw overloaded(error)
      await sleep(firstPause * 2 ** (attempt - 1) * (0.5 + Math.random()))
    }
  }
}

/** Turns the error of one item into an outcome, so that the other items of its batch go on. */
export function attempt<T>(act: () => T): Settled<T> {
  try {
    return { value: act() }
  } catch (error) {
    return { error }
  }
}

/** @throws the error of an attempt that failed */
export function resultOf<T>(outcome: Settled<T>): T {
  if ('value' in outcome) return outcome.value
  throw outcome.error
}
