import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Product } from '../domain/product.ts'
import { isSearch, type Page, type ProductQuery, type StockedProduct } from '../domain/store.ts'
import { FairLimiter, QuotaExceeded } from '../fairness/fair-limiter.ts'
import { type Bounds, Quota } from '../fairness/quota.ts'
import { Problem, retryAfter } from '../http/problem.ts'
import { whenAnswered } from '../http/when-answered.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The store's pages of products. A search waits for its turn among those of all callers.
     * @throws Problem `too-many-requests`, `overloaded` when too many wait
     */
    findProducts(query: ProductQuery): Promise<Page<Product>>
    /** The store's batches of all products; to read one waits for its turn. */
    allProducts(): AsyncIterable<readonly StockedProduct[]>
  }
  interface FastifyReply {
    /**
     * Takes one of the places for those who read the whole catalogue, until the answer is sent.
     * @throws Problem `too-many-requests`, `overloaded` when there is none
     */
    takeCataloguePlace(): void
  }
}

/**
 * The worst search takes seconds in a large catalogue. At most so many are looked for at a time, so that they leave the
 * other connections of a PostgreSQL pool to the rest of the shop.
 */
const searches = { running: { all: 4, caller: 2 }, waiting: { all: 64, caller: 8 } } as const

/** Who reads the catalogue slowly keeps his place for long. */
const catalogues: Bounds = { all: 32, caller: 4 }

/** A batch is read in milliseconds; as many wait as there are places. */
const batches = {
  running: { all: 2, caller: 1 },
  waiting: { all: Number.POSITIVE_INFINITY, caller: Number.POSITIVE_INFINITY }
} as const

function refusal(of: keyof Bounds, what: string, own: number): Problem {
  if (of === 'all') return new Problem('overloaded', `More ${what} are under way than the shop can do now. Try again soon.`)
  return new Problem('too-many-requests', `${own} of your ${what} are under way. Wait for an answer before you send more.`, {
    headers: retryAfter
  })
}

/** Bounds what callers do at once of what takes long, however few requests it is: searches, and reading the whole catalogue. */
export default fp(
  async function sharing(app: FastifyInstance) {
    const searching = new FairLimiter(searches)
    const reading = new FairLimiter(batches)
    const places = new Quota(catalogues)

    app.decorateRequest('findProducts', async function (this: FastifyRequest, query: ProductQuery) {
      if (!isSearch(query)) return app.store.products(query)
      try {
        return await searching.run(this.sender().name, () => {
          if (this.raw.socket.destroyed) throw new Problem('overloaded', 'The connection was closed before the search began.')
          return app.store.products(query)
        })
      } catch (error) {
        throw error instanceof QuotaExceeded ? refusal(error.of, 'searches', searches.running.caller + searches.waiting.caller) : error
      }
    })

    app.decorateRequest('allProducts', async function* (this: FastifyRequest) {
      const all = app.store.allProducts()[Symbol.asyncIterator]()
      try {
        for (;;) {
          const batch = await reading.run(this.sender().name, () => all.next())
          if (batch.done) return
          yield batch.value
        }
      } finally {
        await all.return?.()
      }
    })

    app.decorateReply('takeCataloguePlace', function (this: FastifyReply) {
      const caller = this.request.sender().name
      const full = places.take(caller, 1)
      if (full) throw refusal(full, 'readings of the whole catalogue', catalogues.caller)
      whenAnswered(this.request, this, () => places.giveBack(caller, 1))
    })
  },
  { name: 'sharing', fastify: '5.x', dependencies: ['documents', 'problems', 'store'] }
)
