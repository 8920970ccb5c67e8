import type { Worker } from 'node:worker_threads'
import { DomainError, PositionError } from '../../domain/errors.ts'
import type { Product } from '../../domain/product.ts'
import type { Page, ProductQuery } from '../../domain/store.ts'
import { fromFailure, unavailable } from './failures.ts'
import type { Found, ReaderData } from './reader-thread.ts'
import type { FromThread, ToThread } from './thread-entry.ts'
import { returnThread, takeThread } from './threads.ts'

type ToReader = ToThread<ReaderData, ProductQuery>

interface Waiting {
  readonly resolve: (page: Page<Product>) => void
  readonly reject: (error: Error) => void
}

/** Searches that may wait for the one that is under way. */
const most = 64

/**
 * Searches, one after the other, in a thread of their own: the worst takes seconds in a large catalogue (many phrases that no
 * product has), in which orders and everything else go on. The thread starts with the first; one that dies is replaced.
 */
export class Searcher {
  readonly #data: ReaderData
  #thread: Worker | undefined
  #waiting: Waiting[] = []
  #closed: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(data: ReaderData) {
    this.#data = data
  }

  /** @throws PositionError, DomainError `store-unavailable`, `store-overloaded` */
  async search(query: ProductQuery): Promise<Page<Product>> {
    if (this.#closing) throw unavailable()
    if (this.#waiting.length >= most) {
      throw new DomainError('store-overloaded', 'More is being searched for than the shop can find now. Try again soon.')
    }
    this.#thread ??= this.#start()
    this.#thread.postMessage({ ask: query } satisfies ToReader)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** Answers what waits, then closes the database. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Ends the thread where it stands, as a crash would: for tests. */
  async kill(): Promise<void> {
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const thread = takeThread('reader')
    let cause: unknown
    thread.on('message', (message: FromThread<Found>) => this.#receive(thread, message))
    thread.on('error', (error) => (cause = error))
    thread.on('exit', () => this.#lost(cause))
    thread.postMessage({ open: this.#data } satisfies ToReader)
    return thread
  }

  async #close(): Promise<void> {
    const thread = this.#thread
    if (!thread) return
    const closed = new Promise<void>((resolve) => (this.#closed = resolve))
    thread.postMessage('close' satisfies ToReader)
    await closed
  }

  #receive(thread: Worker, message: FromThread<Found>): void {
    if (message === 'closed') {
      returnThread('reader', thread)
      this.#lost()
    } else if (message !== 'opened') this.#answer(message.answer)
  }

  #answer(found: Found): void {
    const first = this.#waiting.shift()
    if ('page' in found) first?.resolve(found.page)
    else first?.reject('position' in found ? new PositionError(found.position) : fromFailure(found.failure, 'products'))
  }

  #lost(cause?: unknown): void {
    const lost = this.#waiting
    this.#waiting = []
    this.#thread = undefined
    for (const { reject } of lost) reject(unavailable(cause))
    this.#closed?.()
  }
}
