import { createHash, randomUUID } from 'node:crypto'
import fp from 'fastify-plugin'
import { pagedQuery, pageLimit, pageUri, readCursor, writeCursor } from '../plugins/paging.ts'
import { uris } from '../representations/links.ts'
import { productRepresentations, productsRepresentations } from '../representations/product.ts'
import { product } from '../schemas/product.ts'
import type { RoutePlugin } from './route.ts'

const productQuery = pagedQuery<{ readonly q?: string; readonly category?: string; readonly 'updated-since'?: string }>({
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

const products: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)

  app.get(
    '/products',
    {
      schema: { querystring: productQuery },
      config: { represents: productsRepresentations, caching: 'catalogue', describes: listProducts }
    },
    async (request, reply) => {
      const { limit, after, q, category, 'updated-since': updatedSince } = request.query
      const order = q ? 'text' : 'id'
      const position = after === undefined ? undefined : readCursor(order, after)
      const { revision, modifiedAt } = await app.store.revision()
      const digest = createHash('sha256')
        .update(JSON.stringify([limit, after, q, category, updatedSince]))
        .digest('hex')
        .slice(0, 8)
      const validators = { version: `${revision}.${modifiedAt.toString(36)}.${digest}`, modifiedAt }
      if (reply.revalidate(validators)) return reply
      const page = await app.store.products({
        limit,
        ...(position === undefined ? {} : { after: position }),
        ...(q ? { q } : {}),
        ...(category === undefined ? {} : { category }),
        ...(updatedSince === undefined ? {} : { updatedSince: Date.parse(updatedSince) })
      })
      const query = { q, category, 'updated-since': updatedSince, limit: limit === pageLimit.default ? undefined : limit }
      const next = page.next === undefined ? undefined : pageUri(uri.products, { ...query, after: writeCursor(order, page.next) })
      return reply.represent({
        products: page.items,
        links: [
          { rel: 'self', href: request.url },
          { rel: 'first', href: pageUri(uri.products, query) },
          ...(next === undefined ? [] : [{ rel: 'next', href: next }])
        ],
        query: { q, category, updatedSince },
        validators
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
