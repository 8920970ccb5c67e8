import { DomainError } from '../../domain/errors.ts'
import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import type { ProductQuery } from '../../domain/store.ts'
import { entryCode } from '../../files.ts'
import { HelperThread, ThreadLost } from '../../threads/helper-thread.ts'
import { fromFailure, notStored } from '../outcomes.ts'
import type { Found, SearchData } from './search-thread.ts'

/** The most searches that may be pending, including the one that runs. */
const maxPending = 64

const entry = entryCode('stores/sqlite/search-thread')

/**
 * Runs searches one after the other in a separate thread. The most expensive search takes seconds in a large catalogue (many
 * phrases that no product has) and must not block anything else. The first search starts the thread. A thread that dies is
 * replaced.
 */
export class Searcher {
  readonly #thread: HelperThread<SearchData, ProductQuery, Found>
  #pending = 0

  constructor(data: SearchData) {
    this.#thread = new HelperThread(entry, data)
  }

  /** @throws PositionError, DomainError `store-unavailable`, `store-overloaded` */
  async search(query: ProductQuery): Promise<Page<Product>> {
    if (this.#pending >= maxPending) {
      throw new DomainError('store-overloaded', 'Too many searches are waiting right now. Try again in a few seconds.')
    }
    const found = await this.#find(query)
    if ('page' in found) return found.page
    throw fromFailure(found.failure, 'products')
  }

  async #find(query: ProductQuery): Promise<Found> {
    this.#pending += 1
    try {
      return await this.#thread.ask(query)
    } catch (error) {
      throw error instanceof ThreadLost ? notStored(error.cause) : error
    } finally {
      this.#pending -= 1
    }
  }

  /** Answers the pending searches, then closes the database. */
  close(): Promise<void> {
    return this.#thread.close()
  }

  /** Kills the thread at once, like a crash: for tests. */
  kill(): Promise<void> {
    return this.#thread.kill()
  }
}
