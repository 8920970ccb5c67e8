import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { textOf } from '../domain/deferred.ts'
import type { Order } from '../domain/order.ts'
import type { Page } from '../domain/page.ts'
import type { Product } from '../domain/product.ts'
import { isSearch, type ProductQuery, type StockedProduct } from '../domain/store.ts'
import { FairLimiter, type FairLimits, QuotaExceeded, startWaiting } from '../fairness/fair-limiter.ts'
import { type ExceededLimit, unlimited } from '../fairness/quota.ts'
import { HeldUntilAnswered } from '../http/held-until-answered.ts'
import { HeldUntilWritten } from '../http/held-until-written.ts'
import { pageLimit } from '../http/paging.ts'
import { Problem, retryAfter } from '../http/problem.ts'
import { requireClient } from '../http/require-client.ts'
import { senderName } from '../http/sender-name.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Does work with searches when it is the caller's turn. The work must not wait for another search turn.
     * @throws Problem `too-many-requests` or `overloaded` when too many searches wait
     */
    inSearchTurn<T>(work: () => Promise<T>): Promise<T>
    /** A page of products from the store, in the caller's turn to read. A search needs the turn of `inSearchTurn`. */
    findProducts(query: ProductQuery): Promise<Page<Product>>
    /** All products of the store, in batches. Reading each batch waits for the caller's turn. */
    allProducts(): AsyncIterable<readonly StockedProduct[]>
    /**
     * Changes a stored order. Large ones wait for the caller's turn.
     * @throws Problem `overloaded` when too many large orders wait
     */
    changeInTurn<T>(order: Order, change: () => Promise<T>): Promise<T>
    /**
     * Waits for the caller's turn to write a large order. The turn ends when the answer is written: an order takes several times its
     * size from when it is decided until then.
     * @throws Problem `overloaded` when the client has gone meanwhile, `unauthenticated` when its key was revoked meanwhile,
     * `too-many-requests` as `rateRefusal` says
     */
    largeWriteTurn(): Promise<void>
    /**
     * Waits for the caller's turn to read and write a long page of a list. The turn ends when the answer is written. Whoever has it must not
     * wait for a search turn, because a search may wait for this one.
     * @param items the most that the page can have
     * @returns false for a short page, which does not wait
     * @throws Problem `overloaded` when the turn comes too late, or the client has gone meanwhile
     */
    listTurn(items: number): Promise<boolean>
  }
  interface FastifyReply {
    /**
     * Counts this response as a download of the whole catalogue until it is sent.
     * @throws Problem `too-many-requests` or `overloaded` when too many downloads are in progress
     */
    acquireCatalogueDownload(): void
  }
}

/**
 * The worst search takes seconds in a large catalogue. Few searches run at once, so that half of the serving thread's eight connections
 * to PostgreSQL stay free for the rest of the shop.
 */
export const searchLimits = { running: { total: 4, perCaller: 2 }, waiting: { total: 64, perCaller: 8 } } as const

/** The searches that a caller can have in progress, with those that wait. */
export const mostSearches = searchLimits.running.perCaller + searchLimits.waiting.perCaller

/** While other callers run as many searches as can run at once, a caller can only have searches that wait. */
const searchesAllowed = `${mostSearches} at most, ${searchLimits.waiting.perCaller} while others search`

/** A slow client keeps a download open for long. */
export const downloadLimits = { total: 32, perNetwork: 8, perCaller: 4 } as const

/**
 * An order of 10,000 lines takes 0.3 s of the thread that writes, or 1.2 s if it takes what is left of 10,000 products, and the time of
 * another process for its answer. Four are in progress at once, so that neither the thread nor the process has to wait. The room for
 * large orders and bodies in memory limits how many wait.
 */
const largeWriteLimits = {
  running: { total: 4, perCaller: 1 },
  waiting: unlimited
} as const

/**
 * A page of 1,000 items takes megabytes from when it is read until it is written, and both take 20 to 50 ms. Beside four searches and
 * three such pages, one of the eight connections to PostgreSQL stays free.
 */
export const listLimits = {
  running: { total: 3, perCaller: 1 },
  waiting: unlimited
} as const

/** Items of a page that waits for no turn, as most do. */
const shortPage = pageLimit.default

/** A batch is read in milliseconds. The limits of downloads already limit how many batches wait. */
const batchLimits = {
  running: { total: 2, perCaller: 1 },
  waiting: unlimited
} as const

/** @param allowed how many a caller can have in progress */
function refusal(limit: ExceededLimit, what: string, allowed: string): Problem {
  if (limit !== 'perCaller') return new Problem('overloaded', `Too many ${what} are in progress in the shop. Try again in a few seconds.`)
  return new Problem('too-many-requests', `Too many of your ${what} are in progress (${allowed}). Wait for one to finish.`, {
    headers: retryAfter
  })
}

/**
 * Limits requests that take long, however few they are: searches, long pages of lists, downloads of the whole catalogue, and changes of
 * large orders.
 */
export default fp(
  async function sharing(app: FastifyInstance) {
    const searches = new FairLimiter(searchLimits)
    const batchReads = new FairLimiter(batchLimits)
    const downloads = new HeldUntilAnswered(downloadLimits, () => app.slowClients())
    const waitForLargeWrite = turnsUntilAnswered(largeWriteLimits)
    const waitForList = turnsUntilAnswered(listLimits)

    /** Turns that end when the answer is written, or when the client has gone. @returns a function that waits for a request's turn */
    function turnsUntilAnswered(limits: FairLimits): (request: FastifyRequest) => Promise<void> {
      const limiter = new FairLimiter(limits)
      const turns = new HeldUntilWritten<() => void>(app, (end) => end())
      return async (request) => {
        if (turns.get(request)) return
        const end = await new Promise<() => void>((begin) => {
          void limiter.run(senderName(request), () => new Promise<void>((end) => begin(end)))
        })
        turns.hold(request, end)
        requireClient(request)
      }
    }

    app.decorateRequest('findProducts', async function (this: FastifyRequest, query: ProductQuery) {
      if (!isSearch(query)) return this.read((store) => store.products(query))
      const page = await app.store.products(query)
      // Node hands over up to 1,000 messages of a thread in one turn of the event loop: the next search must begin in a later one.
      await this.nextTurn()
      return page
    })

    app.decorateRequest('inSearchTurn', async function <T>(this: FastifyRequest, work: () => Promise<T>): Promise<T> {
      try {
        return await searches.run(senderName(this), () => {
          requireClient(this)
          return work()
        })
      } catch (error) {
        if (!(error instanceof QuotaExceeded)) throw error
        throw refusal(error.limit, 'searches', searchesAllowed)
      }
    })

    app.decorateRequest('allProducts', async function* (this: FastifyRequest) {
      const all = app.store.allProducts()[Symbol.asyncIterator]()
      try {
        for (;;) {
          const batch = await batchReads.run(senderName(this), () => all.next())
          if (batch.done) return
          yield batch.value
        }
      } finally {
        await all.return?.()
      }
    })

    app.decorateRequest('changeInTurn', async function <T>(this: FastifyRequest, order: Order, change: () => Promise<T>): Promise<T> {
      const text = textOf(order)
      // Small changes take turns in the queue of writes.
      if ((text ?? textOf(this.body)) === undefined) return change()
      const inTurn = () => this.largeWriteTurn().then(change)
      return text === undefined ? inTurn() : this.withRoomFor(text, inTurn)
    })

    app.decorateRequest('largeWriteTurn', async function (this: FastifyRequest) {
      await waitForLargeWrite(this)
      await this.requireKeyStill()
      const refusal = this.rateRefusal()
      if (refusal) throw refusal
    })

    app.decorateRequest('listTurn', async function (this: FastifyRequest, items: number) {
      if (items <= shortPage) return false
      const isTooLate = startWaiting()
      await waitForList(this)
      if (isTooLate()) {
        throw new Problem('overloaded', 'Too many long pages are being read right now. Ask for fewer items, or try again in a few seconds.')
      }
      await this.nextTurn()
      return true
    })

    app.decorateReply('acquireCatalogueDownload', function (this: FastifyReply) {
      const exceeded = downloads.hold(this.request, this, 1)
      if (exceeded) throw refusal(exceeded, 'downloads of the whole catalogue', `${downloadLimits.perCaller} at most`)
    })
  },
  { name: 'sharing', fastify: '5.x', dependencies: ['admission', 'auth', 'documents', 'problems', 'sending', 'store'] }
)
