import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { hasCode } from '../domain/errors.ts'
import { BatchQueue, type Queued, type QueueRules } from './batch-queue.ts'
import { type Done, notStored, type Postponed } from './outcomes.ts'
import { type LaneName, laneOf } from './sizes.ts'

/**
 * Results that are handed over in one turn of the event loop. Each lets a request go on, which costs the serving thread about as much as a
 * small read.
 */
const resultsPerTurn = 8

/** The outcome of one item of a batch. */
export type Settled<T> = Done<T> | { readonly error: unknown }

export interface Work<Item, Result> extends QueueRules<Item> {
  /** Runs a batch as one transaction. Its items are of one lane. The results are in the order of the items. */
  run(items: readonly Item[], lane: LaneName): Promise<readonly (Settled<Result> | Postponed)[]>
  /** The number of batches that may be in progress at once. */
  readonly parallel: number
  /** Whether an error concerns the whole batch. Then its items are not tried one by one: each would take as long and fail again. */
  readonly isOfAll?: (error: unknown) => boolean
  /** Called with the number of events that an item has made, before its promise resolves. */
  readonly onEvents?: (item: Item, events: number) => void
}

interface Answer<Item, Result> {
  readonly queued: Queued<Item, Result>
  readonly result: Settled<Result>
}

/** Collects the items that arrive while a batch runs into the next batch: one transaction, one commit, few round trips. */
export class Batcher<Item, Result> {
  readonly #work: Work<Item, Result>
  readonly #waiting: BatchQueue<Item, Result>
  #running = 0
  #delivering = 0
  #flushing = false
  #closing: Promise<void> | undefined
  #drained: (() => void) | undefined

  constructor(work: Work<Item, Result>) {
    this.#work = work
    this.#waiting = new BatchQueue(work)
  }

  /** @throws the error of the item, and DomainError `store-unavailable`, `store-overloaded` */
  submit(item: Item): Promise<Result> {
    if (this.#closing) return Promise.reject(notStored())
    return new Promise((resolve, reject) => {
      this.#waiting.add({ item, resolve, reject })
      this.#flushSoon()
    })
  }

  /** Refuses new items, and resolves when the waiting ones are done. */
  close(): Promise<void> {
    this.#closing ??= this.#isIdle ? Promise.resolve() : new Promise((resolve) => (this.#drained = resolve))
    return this.#closing
  }

  get #isIdle(): boolean {
    return this.#running === 0 && this.#delivering === 0 && this.#waiting.length === 0
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
    const [first] = batch
    if (!first) return
    this.#running += 1
    this.#flushSoon()
    const results = await this.#run(batch, laneOf(first.weight))
    const answers: Answer<Item, Result>[] = []
    for (const [i, queued] of batch.entries()) {
      const result = this.#settled(queued, results[i] ?? withoutResult())
      if (result) answers.push({ queued, result })
    }
    this.#running -= 1
    this.#flushSoon()
    this.#delivering += 1
    await deliver(answers)
    this.#delivering -= 1
    if (this.#isIdle) this.#drained?.()
  }

  /** Undefined if the item was postponed, and waits again. */
  #settled(queued: Queued<Item, Result>, result: Settled<Result> | Postponed): Settled<Result> | undefined {
    const settled = 'postponed' in result ? this.#putBack(queued, result) : result
    if (settled) this.#waiting.finish(queued)
    if (settled && 'value' in settled) this.#work.onEvents?.(queued.item, settled.events ?? 0)
    return settled
  }

  /** Returns an error if there is no room for the item. */
  #putBack(queued: Queued<Item, Result>, { postponed }: Postponed): { readonly error: unknown } | undefined {
    try {
      this.#waiting.putBack(queued, postponed)
      return undefined
    } catch (error) {
      return { error }
    }
  }

  async #run(batch: readonly Queued<Item, Result>[], lane: LaneName): Promise<readonly (Settled<Result> | Postponed)[]> {
    try {
      return await this.#work.run(
        batch.map(({ item }) => item),
        lane
      )
    } catch (error) {
      // If the database refuses one item, each is tried alone, so that the others succeed. If it cannot be reached, or needs too long, all fail.
      const isTriedAlone = batch.length > 1 && !hasCode(error, 'store-unavailable') && !this.#work.isOfAll?.(error)
      if (!isTriedAlone) return batch.map(() => ({ error }))
      const results: (Settled<Result> | Postponed)[] = []
      for (const queued of batch) results.push((await this.#run([queued], lane))[0] ?? withoutResult())
      return results
    }
  }
}

/** The error of an item for which a batch has no result. */
export function withoutResult(): { readonly error: Error } {
  return { error: new Error('a batch left an item without a result') }
}

/** Hands the results over, a few in each turn of the event loop, so that requests that come meanwhile do not wait for all of them. */
async function deliver<Item, Result>(answers: readonly Answer<Item, Result>[]): Promise<void> {
  for (const [i, { queued, result }] of answers.entries()) {
    if (i > 0 && i % resultsPerTurn === 0) await turnOfTheLoop()
    if ('value' in result) queued.resolve(result.value)
    else queued.reject(result.error)
  }
}

/** Turns the error of one item into a result, so that the other items of its batch go on. */
export function attempt<T>(act: () => T): Settled<T> {
  try {
    return { value: act() }
  } catch (error) {
    return { error }
  }
}

/** @throws the error of an attempt that failed */
export function resultOf<T>(settled: Settled<T>): T {
  if ('value' in settled) return settled.value
  throw settled.error
}
