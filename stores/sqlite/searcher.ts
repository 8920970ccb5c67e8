import { DomainError } from '../../domain/errors.ts'
import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import type { ProductQuery } from '../../domain/store.ts'
import type { WebhookBacklog } from '../../domain/webhook.ts'
import { entryCode } from '../../files.ts'
import { HelperThread, ThreadLost } from '../../threads/helper-thread.ts'
import { fromFailure, notStored } from '../outcomes.ts'
import type { Findings, Found, Search, SearchData } from './search-thread.ts'
import { scheduleTime } from './webhook-backlog.ts'

/** The most searches that may be pending, including the one that runs. */
const maxPending = 64

const entry = entryCode('stores/sqlite/search-thread')

/**
 * Runs searches one after the other in a separate thread. The most expensive search takes seconds in a large catalogue (many
 * phrases that no product has) and must not block anything else. The backlog of 1,000 webhooks takes 15 ms, so it counts as a search.
 * The first search starts the thread. A thread that dies is replaced.
 */
export class Searcher {
  readonly #thread: HelperThread<SearchData, Search, Found>
  #pending = 0

  constructor(data: SearchData) {
    this.#thread = new HelperThread(entry, data)
  }

  /** @throws PositionError, DomainError `store-unavailable`, `store-overloaded` */
  search(query: ProductQuery): Promise<Page<Product>> {
    return this.#find({ verb: 'products', query })
  }

  /** @throws DomainError `store-unavailable`, `store-overloaded` */
  webhookBacklog(): Promise<WebhookBacklog> {
    return this.#find({ verb: 'webhookBacklog', query: scheduleTime() })
  }

  async #find<S extends Search>(search: S): Promise<Findings[S['verb']]['found']> {
    if (this.#pending >= maxPending) {
      throw new DomainError('store-overloaded', 'Too many searches are waiting right now. Try again in a few seconds.')
    }
    const answer = await this.#ask(search)
    if ('found' in answer) return answer.found
    throw fromFailure(answer.failure, search.verb)
  }

  async #ask(search: Search): Promise<Found> {
    this.#pending += 1
    try {
      return await this.#thread.ask(search)
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
