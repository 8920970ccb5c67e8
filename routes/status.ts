import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isDeferred } from '../domain/deferred.ts'
import { requireSameId } from '../domain/identity.ts'
import { transitionText } from '../domain/order.ts'
import { hasStatus } from '../domain/order-writes.ts'
import { refusalNotice } from '../representations/notice.ts'
import { orderValidators } from '../representations/order.ts'
import { orderStatusRepresentations } from '../representations/order-status.ts'
import { isHidden, type ProblemDocument } from '../representations/problem.ts'
import { orderStatus, type StatusDocument } from '../schemas/order-status.ts'
import { toFulfil, toSeeOrder } from './access.ts'
import { orderIdOf, orderPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'
import { orderWithStatus, statusSetter } from './setting-status.ts'

const status: RoutePlugin = async (app) => {
  const shown = { represents: orderStatusRepresentations, caching: 'private' } as const
  const seller = { ...shown, access: toFulfil } as const

  app.get(
    '/order/:order_id/status',
    { schema: { params: orderPath }, config: { ...shown, access: toSeeOrder, describes: getStatus } },
    async (request, reply) => {
      const head = await request.visibleOrderHead(request.params.order_id)
      if (reply.revalidate(orderValidators(head, request.context()), false)) return reply
      return reply.represent(await request.wholeOrder(head))
    }
  )

  app.put(
    '/order/:order_id/status',
    { schema: { params: orderPath, body: orderStatus }, config: { ...seller, describes: putStatus } },
    async (request, reply) => {
      const { status } = request.body
      const head = await request.visibleOrderHead(request.params.order_id)
      requireSameId(head.id, request.submission?.named)
      // A request whose conditions fail is refused before the order's content is read.
      if (hasStatus(head, status) === 'no') request.precondition(request.currentOf(head), 'replaces')
      const current = await request.wholeOrder(head)
      const details = hasDetails(request.body) ? [request.body] : []
      const set = statusSetter(app.store, request, current)
      const unchanged = await orderWithStatus(set, current, status, ...details)
      if (request.isAlreadySatisfied(unchanged !== undefined)) return reply.represent(unchanged)
      const expected = request.precondition(request.currentOf(current), 'replaces')
      return reply.represent(await set(status, expected, ...details))
    }
  )

  // A browser's form cannot send PUT.
  app.post(
    '/order/:order_id/status',
    { schema: { params: orderPath }, config: { ...seller, form: { refused, confirms: true }, describes: postStatus } },
    app.performs({ PUT: { body: orderStatus } })
  )

  async function refused(request: FastifyRequest, problem: ProblemDocument): Promise<string | undefined> {
    if (isHidden(problem)) return undefined
    const current = await request.visibleOrder(orderIdOf(request))
    return request.page(current, { notice: refusalNotice(problem, 'the order') })
  }
}

/** A large document has details, and is not parsed to find that out. */
function hasDetails(document: StatusDocument): boolean {
  if (isDeferred(document)) return true
  const { expectedDeliveryDate, note, items } = document
  return expectedDeliveryDate !== undefined || note !== undefined || items !== undefined
}

const getStatus = {
  id: 'getOrderStatus',
  summary: "An order's status",
  answers: { 200: 'The status.' },
  problems: ['order-not-found']
} as const
const putStatus = {
  id: 'setOrderStatus',
  summary: "Set an order's status",
  notes:
    `${transitionText}. Rejecting and cancelling give the stock back. ` +
    '`shipped` ships all that is left. An expected delivery date and a note, of the order and of its lines, tell the buyer more; what is left out stays as it is.',
  answers: { 200: 'The status as it is now, also if the order already had it.' },
  problems: ['order-not-found', 'transition-refused', 'invalid-status', 'identity-mismatch']
} as const
const postStatus = {
  id: 'postOrderStatusForm',
  summary: "Set an order's status, from its page",
  answers: { 303: 'To the status.' },
  problems: ['order-not-found', 'transition-refused', 'invalid-status']
} as const

export default fp(status, {
  name: 'status',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'visibility', 'form-pages', 'sharing']
})
