import { createHash, randomUUID } from 'node:crypto'
import fp from 'fastify-plugin'
import type { Product } from '../domain/product.ts'
import type { Page, PageQuery, ProductQuery, Revision, Store } from '../domain/store.ts'
import { pagedQuery, pageLimit, pageUri, readCursor, writeCursor } from '../plugins/paging.ts'
import { uris } from '../representations/links.ts'
import { productRepresentations, productsRepresentations } from '../representations/product.ts'
import { product } from '../schemas/product.ts'
import type { RoutePlugin } from './route.ts'

interface Filters {
  readonly q?: string
  readonly category?: string
  readonly 'updated-since'?: string
}

const productQuery = pagedQuery<Filters>({
  q: { type: 'string', maxLength: 256, description: 'Full text: products that have all of these words.' },
  category: { type: 'string', maxLength: 256, description: 'Products of this category only.' },
  'updated-since': { type: 'string', format: 'date-time', description: 'Products modified at this time or later (RFC 3339).' }
})

const listProducts = {
  id: 'listProducts',
  summary: 'The products, page by page',
  notes: 'Follow `next` to the page after. A 304 costs next to nothing: ask as often as you like.',
  answers: { 200: 'A page of products.' }
} as const
const createProduct = {
  id: 'createProduct',
  summary: 'Create a product',
  notes: "The body's `id` becomes the product's; without one the service makes one.",
  answers: { 201: 'The product as it was created.' },
  problems: ['product-exists', 'gtin-taken', 'invalid-product']
} as const

/** A search has an order of its own, and so have its cursors. */
const orderOf = (q: string | undefined) => (q ? 'text' : 'id')

/** @throws Problem when the cursor is none of this list */
function toQuery({ limit, after, q, category, 'updated-since': since }: Filters & PageQuery): ProductQuery {
  return {
    limit,
    ...(after === undefined ? {} : { after: readCursor(orderOf(q), after) }),
    ...(q ? { q } : {}),
    ...(category === undefined ? {} : { category }),
    ...(since === undefined ? {} : { updatedSince: Date.parse(since) })
  }
}

/** How often a page is read again because the catalogue changed meanwhile. */
const patience = 10

/**
 * A page, and the revision whose page it is: a strong tag may not name one into which a later change has come. Where the
 * catalogue changes without a pause the page has no revision, and so no tag.
 */
async function readSettled(
  store: Store,
  wanted: ProductQuery,
  first: Revision
): Promise<{ page: Page<Product>; at: Revision | undefined }> {
  let before = first
  for (let attempt = 1; ; attempt++) {
    const page = await store.products(wanted)
    const after = await store.revision()
    if (after.revision === before.revision) return { page, at: after }
    if (attempt === patience) return { page, at: undefined }
    before = after
  }
}

const products: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)

  app.get(
    '/products',
    {
      schema: { querystring: productQuery },
      config: { represents: productsRepresentations, caching: 'catalogue', describes: listProducts }
    },
    async (request, reply) => {
      const { limit, q, category, 'updated-since': updatedSince } = request.query
      const wanted = toQuery(request.query)
      const digest = createHash('sha256').update(JSON.stringify(request.query)).digest('hex').slice(0, 8)
      const validatorsOf = ({ revision, modifiedAt }: Revision) => ({
        version: `${revision}.${modifiedAt.toString(36)}.${digest}`,
        modifiedAt
      })
      const catalogue = await app.store.revision()
      if (reply.revalidate(validatorsOf(catalogue))) return reply
      const { page, at } = await readSettled(app.store, wanted, catalogue)
      const query = { q, category, 'updated-since': updatedSince, limit: limit === pageLimit.default ? undefined : limit }
      const next = page.next === undefined ? undefined : pageUri(uri.products, { ...query, after: writeCursor(orderOf(q), page.next) })
      return reply.represent({
        products: page.items,
        links: [
          { rel: 'self', href: request.url },
          { rel: 'first', href: pageUri(uri.products, query) },
          ...(next === undefined ? [] : [{ rel: 'next', href: next }])
        ],
        query: { q, category, updatedSince },
        validators: at && validatorsOf(at)
      })
    }
  )

  app.post(
    '/products',
    {
      schema: { body: product },
      config: { represents: productRepresentations, caching: 'catalogue', access: { anyOf: ['catalogue'] }, describes: createProduct }
    },
    async (request, reply) => {
      const created = await app.store.createProduct(request.body.id ?? randomUUID(), request.body.draft)
      return reply.created(uri.product(created.id), created)
    }
  )
}

export default fp(products, { name: 'products', encapsulate: true, dependencies: ['representation', 'documents', 'auth'] })
