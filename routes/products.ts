import { hash, randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { PageQuery } from '../domain/page.ts'
import { mostSearchCharacters } from '../domain/product.ts'
import { isSearch, type ProductQuery, type Revision, type Store } from '../domain/store.ts'
import { readInstant } from '../http/dates.ts'
import { firstLink, nextLinks, pagedQuery, startOfPage } from '../http/paging.ts'
import { senderName } from '../http/sender-name.ts'
import { mostSearches } from '../plugins/sharing.ts'
import { uris } from '../representations/links.ts'
import { mostCategories, productRepresentations, productsRepresentations } from '../representations/product.ts'
import { versionText } from '../representations/representation.ts'
import { mostCategoryCharacters, product } from '../schemas/product.ts'
import { toWriteCatalogue } from './access.ts'
import type { RoutePlugin } from './route.ts'

const products: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)

  app.get(
    '/products',
    {
      schema: { querystring: productQuery },
      config: {
        represents: productsRepresentations,
        caching: 'catalogue',
        version: (versions) => versions.catalogue(),
        describes: listProducts
      }
    },
    async (request, reply) => {
      const { limit, q, category, 'updated-since': updatedSince } = request.query
      const wanted = toQuery(request.query)
      const digest = hash('sha256', JSON.stringify(request.query)).slice(0, 8)
      const validatorsOf = ({ revision, modifiedAt }: Revision) => ({
        version: `${versionText(revision, modifiedAt)}.${digest}`,
        modifiedAt
      })
      let catalogue = await request.read((store) => store.revision())
      if (reply.revalidate(validatorsOf(catalogue))) return reply
      const isSearched = isSearch(wanted)
      if (!isSearched && (await request.listTurn(limit))) {
        // Meanwhile the catalogue may have changed, or another request may have written the page.
        catalogue = await request.read((store) => store.revision())
        if (reply.revalidate(validatorsOf(catalogue), false)) return reply
      }
      const isWholeShop = request.isPage && !q && !category
      const readPage = () =>
        readAtOneRevision(request, catalogue, async () => ({
          page: await request.findProducts(wanted),
          categories: isWholeShop ? await request.read(categoryOptions) : undefined
        }))
      const search = async () => {
        const settled = await readPage()
        // The search turn ends only after this wait, so that only a few found pages are in memory.
        await request.listTurn(limit)
        return settled
      }
      const { found, at } = await (isSearched ? request.inSearchTurn(search) : readPage())
      const { page, categories } = found
      const list = { path: uri.products, sorting: orderOf(q), filters: { q, category, 'updated-since': updatedSince }, limit }
      return reply.represent({
        products: page.items,
        categories,
        links: [{ rel: 'self', href: request.url }, firstLink(list), ...nextLinks(list, page.next)],
        query: { q, category, updatedSince },
        validators: at && validatorsOf(at)
      })
    }
  )

  app.post(
    '/products',
    {
      schema: { body: product },
      config: { represents: productRepresentations, caching: 'catalogue', access: toWriteCatalogue, describes: createProduct }
    },
    async (request, reply) => {
      const created = await app.store.createProduct(request.body.id ?? randomUUID(), request.body.draft, { sender: senderName(request) })
      return reply.created(uri.product(created.id), created)
    }
  )
}

interface Filters {
  readonly q?: string
  readonly category?: string
  readonly 'updated-since'?: string
}

const productQuery = pagedQuery<Filters>({
  q: {
    type: 'string',
    maxLength: mostSearchCharacters,
    description:
      'Full text: products that have all of these words in their number, GTIN, name, description or categories. A word of three or more letters or digits also finds the longer words that begin with it.'
  },
  category: { type: 'string', maxLength: mostCategoryCharacters, description: 'Products of this category only.' },
  'updated-since': { type: 'string', format: 'date-time', description: 'Products modified at this time or later (RFC 3339).' }
})

const listProducts = {
  id: 'listProducts',
  summary: 'The products, page by page',
  notes: `Follow \`next\` to the page after. A page of large products ends early. A 304 does not count against the rate: ask as often as you like. One caller can have ${mostSearches} searches under way.`,
  answers: { 200: 'A page of products.' }
} as const
const createProduct = {
  id: 'createProduct',
  summary: 'Create a product',
  notes: 'The product gets the `id` of the body. Without one, the service makes an id.',
  answers: { 201: 'The product as it was created.' },
  problems: ['product-exists', 'gtin-taken', 'invalid-product']
} as const

/** A search has an order of its own, and so have its cursors. */
const orderOf = (q: string | undefined) => (q ? 'text' : 'id')

/** @throws Problem when the cursor belongs to another list, or the time is not valid */
function toQuery({ limit, after, q, category, 'updated-since': since }: Filters & PageQuery): ProductQuery {
  return {
    limit,
    ...startOfPage(orderOf(q), after),
    ...(q ? { q } : {}),
    ...(category ? { category } : {}),
    ...(since === undefined ? {} : { updatedSince: readInstant('updated-since', since) })
  }
}

/** The categories of the whole catalogue. If there are too many, a page offers only those of its own products. */
async function categoryOptions(store: Store): Promise<readonly string[] | undefined> {
  const found = await store.mainCategories(mostCategories + 1)
  return found.length > mostCategories ? undefined : found
}

/** The most attempts to read a page while the catalogue keeps changing. */
const mostAttempts = 10

/**
 * Reads from the catalogue until its revision is the same before and after, because a strong tag must name the revision that
 * was read. If the catalogue changes all the time, the result has no revision, and so no tag.
 */
async function readAtOneRevision<T>(
  request: FastifyRequest,
  first: Revision,
  read: () => Promise<T>
): Promise<{ found: T; at: Revision | undefined }> {
  let before = first
  for (let attempt = 1; ; attempt++) {
    const found = await read()
    const after = await request.read((store) => store.revision())
    if (after.revision === before.revision) return { found, at: after }
    if (attempt === mostAttempts) return { found, at: undefined }
    before = after
  }
}

export default fp(products, { name: 'products', encapsulate: true, dependencies: ['representation', 'documents', 'auth', 'sharing'] })
