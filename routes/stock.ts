import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { requireSameId } from '../domain/identity.ts'
import { compare } from '../domain/money.ts'
import type { TypedForm } from '../http/form-post.ts'
import { senderName } from '../http/sender-name.ts'
import { refusalNotice } from '../representations/notice.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import { type ShownStock, stockRepresentations } from '../representations/stock.ts'
import { stock } from '../schemas/stock.ts'
import { toWriteCatalogue } from './access.ts'
import { productIdOf, productPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

const stockRoute: RoutePlugin = async (app) => {
  const shown = { represents: stockRepresentations, caching: 'private' } as const
  const seller = { ...shown, access: toWriteCatalogue } as const

  app.get(
    '/product/:product_id/stock',
    { schema: { params: productPath }, config: { ...shown, describes: getStock } },
    async (request, reply) => {
      const { product_id: id } = request.params
      return reply.represent(request.isPage ? await withProduct(request, id) : await request.read((store) => store.stock(id)))
    }
  )

  app.put(
    '/product/:product_id/stock',
    { schema: { params: productPath, body: stock }, config: { ...seller, describes: setStock } },
    async (request, reply) => {
      const { onHand } = request.body
      const current = await withProduct(request, request.params.product_id)
      requireSameId(current.productId, request.submission?.named)
      const isRepeated = request.operation.mayRepeat && compare(current.onHand, onHand) === 0
      if (request.isAlreadySatisfied(isRepeated)) return reply.represent(current)
      const expected = request.precondition(request.currentOf(current), 'replaces')
      const stored = await app.store.putStock(current.productId, onHand, expected, { sender: senderName(request) })
      return reply.represent({ ...stored, product: current.product })
    }
  )

  // A browser's form cannot send PUT.
  app.post(
    '/product/:product_id/stock',
    {
      schema: { params: productPath },
      config: { ...seller, form: { refused, confirms: true }, describes: postStock }
    },
    app.performs({ PUT: { body: stock } })
  )

  async function refused(request: FastifyRequest, problem: ProblemDocument, { fields }: TypedForm): Promise<string | undefined> {
    const current = await withProduct(request, productIdOf(request))
    const { customer, ifMatch = '' } = request.operation
    const typed = problem.status === 412 ? undefined : fields.get('on-hand')
    // After a 401 the form keeps its version and its customer, so that the person can sign in in another tab and resubmit it.
    const isSignedOut = problem.status === 401
    const page: ShownStock = {
      ...current,
      notice: refusalNotice(problem, 'the stock'),
      ...(typed == null ? {} : { typed, faults: problem.errors ?? [] }),
      ...(isSignedOut && customer ? { customer } : {})
    }
    return request.page(page, isSignedOut ? { formTag: ifMatch } : {})
  }
}

/** The stock with its product, which the page names, so that the entity tag of the page depends on it. */
function withProduct(request: FastifyRequest, id: string): Promise<ShownStock> {
  return request.read(async (store) => {
    const [stock, product] = await Promise.all([store.stock(id), store.product(id)])
    return { ...stock, product }
  })
}

const problems = ['product-not-found', 'product-deleted'] as const
const getStock = { id: 'getStock', summary: "A product's stock on hand", answers: { 200: 'The stock.' }, problems } as const
const setStock = {
  id: 'setStock',
  summary: "Set a product's stock on hand",
  answers: { 200: 'The stock as it is now.' },
  problems: [...problems, 'identity-mismatch']
} as const
const postStock = {
  id: 'postStockForm',
  summary: "Set a product's stock on hand, from its page",
  answers: { 303: 'To the stock.' },
  problems
} as const

export default fp(stockRoute, {
  name: 'stock',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'authorization', 'form-pages']
})
