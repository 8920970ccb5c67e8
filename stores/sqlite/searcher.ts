import { DomainError, PositionError } from '../../domain/errors.ts'
import type { Product } from '../../domain/product.ts'
import type { Page, ProductQuery } from '../../domain/store.ts'
import { DatabaseThread, ThreadLost } from '../database-thread.ts'
import { fromFailure, notStored } from '../outcomes.ts'
import { entryBeside } from '../threads.ts'
import type { Found, ReaderData } from './reader-thread.ts'

/** Searches that may wait, the one that is under way among them. */
const most = 64

const entry = entryBeside(import.meta.url, 'reader-thread')

/**
 * Searches, one after the other, in a thread of their own: the worst takes seconds in a large catalogue (many phrases that no
 * product has), in which orders and everything else go on. The thread starts with the first; one that dies is replaced.
 */
export class Searcher {
  readonly #thread: DatabaseThread<ReaderData, ProductQuery, Found>
  #waiting = 0

  constructor(data: ReaderData) {
    this.#thread = new DatabaseThread(entry, data)
  }

  /** @throws PositionError, DomainError `store-unavailable`, `store-overloaded` */
  async search(query: ProductQuery): Promise<Page<Product>> {
    if (this.#waiting >= most) {
      throw new DomainError('store-overloaded', 'More is being searched for than the shop can find now. Try again soon.')
    }
    const found = await this.#find(query)
    if ('page' in found) return found.page
    throw 'position' in found ? new PositionError(found.position) : fromFailure(found.failure, 'products')
  }

  async #find(query: ProductQuery): Promise<Found> {
    this.#waiting += 1
    try {
      return await this.#thread.ask(query)
    } catch (error) {
      throw error instanceof ThreadLost ? notStored(error.cause) : error
    } finally {
      this.#waiting -= 1
    }
  }

  /** Answers what waits, then closes the database. */
  close(): Promise<void> {
    return this.#thread.close()
  }

  /** Kills the thread at once, like a crash: for tests. */
  kill(): Promise<void> {
    return this.#thread.kill()
  }
}
