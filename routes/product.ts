import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { hasCode } from '../domain/errors.ts'
import { requireSameId } from '../domain/identity.ts'
import { isProductId, type Product } from '../domain/product.ts'
import { Problem } from '../http/problem.ts'
import { senderName } from '../http/sender-name.ts'
import { uris } from '../representations/links.ts'
import { productRepresentations } from '../representations/product.ts'
import { product } from '../schemas/product.ts'
import { toWriteCatalogue } from './access.ts'
import { productIdOf, productPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

const productRoute: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)
  const writes = { represents: productRepresentations, caching: 'catalogue', access: toWriteCatalogue } as const

  app.get(
    '/product/:product_id',
    {
      schema: { params: productPath },
      config: {
        represents: productRepresentations,
        caching: 'catalogue',
        version: (versions, params) => versions.product(productIdOf({ params })),
        describes: getProduct
      }
    },
    async (request, reply) => reply.represent(await request.read((store) => store.product(request.params.product_id)))
  )

  app.put(
    '/product/:product_id',
    { schema: { params: productPath, body: product }, config: { ...writes, describes: putProduct } },
    async (request, reply) => {
      const { product_id: id } = request.params
      if (!isProductId(id))
        throw new Problem('not-found', 'A product id is 1 to 64 letters, digits, or any of . _ ~ -, but not "." or "..".')
      const { id: named, draft } = request.body
      requireSameId(id, named)
      const expected = request.precondition(request.currentOf(await existing(request, id)), 'replaces')
      const { product: stored, created } = await app.store.putProduct(id, draft, expected, { sender: senderName(request) })
      return created ? reply.created(uri.product(id), stored) : reply.represent(stored)
    }
  )

  app.delete(
    '/product/:product_id',
    { schema: { params: productPath }, config: { ...writes, describes: deleteProduct } },
    async (request, reply) => {
      const { product_id: id } = request.params
      const expected = request.precondition(request.currentOf(await request.read((store) => store.product(id))))
      await app.store.deleteProduct(id, expected, { sender: senderName(request) })
      return reply.deleted(uri.products)
    }
  )

  async function existing(request: FastifyRequest, id: string): Promise<Product | undefined> {
    try {
      return await request.read((store) => store.product(id))
    } catch (error) {
      if (hasCode(error, 'product-not-found', 'product-deleted')) return undefined
      throw error
    }
  }
}

const gone = ['product-not-found', 'product-deleted'] as const
const getProduct = { id: 'getProduct', summary: 'One product', answers: { 200: 'The product.' }, problems: gone } as const
const putProduct = {
  id: 'putProduct',
  summary: 'Replace or create a product',
  notes: '`If-Match` with the ETag that you read replaces; `If-None-Match: *` creates, also where a product was deleted.',
  answers: { 200: 'The product as it is now.', 201: 'The product as it was created.' },
  problems: ['gtin-taken', 'invalid-product', 'identity-mismatch']
} as const
const deleteProduct = {
  id: 'deleteProduct',
  summary: 'Delete a product',
  notes: 'Orders that name it stay whole. Its URI answers 410 from then on.',
  answers: { 204: 'It is deleted.' },
  problems: gone
} as const

export default fp(productRoute, { name: 'product', encapsulate: true, dependencies: ['representation', 'documents', 'authorization'] })
