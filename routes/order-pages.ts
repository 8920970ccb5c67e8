import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { mayEdit } from '../domain/caller.ts'
import { hasCode } from '../domain/errors.ts'
import type { Order } from '../domain/order.ts'
import type { TypedForm } from '../http/form-post.ts'
import { refusalNotice } from '../representations/notice.ts'
import { orderRepresentations } from '../representations/order.ts'
import { isHidden, type ProblemDocument } from '../representations/problem.ts'
import { purchaseOrder } from '../schemas/purchase-order.ts'
import { toPlaceOrChange } from './access.ts'
import { refuseStrayDryRun } from './dry-run.ts'
import { showShipments } from './latest-shipments.ts'
import { orderForms } from './order-forms.ts'
import { orderIdOf, orderPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

/** The forms that an order's pages post: the form that changes the order, and the button that cancels it. */
const orderPages: RoutePlugin = async (app, { config }) => {
  app.addHook('preValidation', refuseStrayDryRun)
  const forms = orderForms(config)
  const one = { represents: orderRepresentations, caching: 'private' } as const

  app.post(
    '/order/:order_id',
    {
      schema: { params: orderPath },
      config: { ...one, access: toPlaceOrChange, form: { refused, more, confirms: true }, describes: postOrder }
    },
    app.performs({ PUT: { body: purchaseOrder }, DELETE: {} })
  )

  /** Shows the form again after its content was refused. Shows the order after anything else. */
  async function refused(request: FastifyRequest, problem: ProblemDocument, form: TypedForm): Promise<string | undefined> {
    const typed = forms.typed(form)
    const isChange = request.operation.method === 'PUT'
    const current = isHidden(problem) ? undefined : await visible(request)
    if (!current) return isChange ? forms.withoutOrder(request, orderIdOf(request), typed, problem) : undefined
    if (isChange && mayEdit(request.caller, current)) {
      return forms.change(request, current, typed, problem)
    }
    await showShipments(request, current)
    return request.page(current, { notice: refusalNotice(problem, 'the order') })
  }

  async function more(request: FastifyRequest, form: TypedForm): Promise<string | undefined> {
    return forms.change(request, await request.changeableOrder(orderIdOf(request)), await forms.lookedUp(request, form))
  }
}

/** The order, if the caller can see it. */
async function visible(request: FastifyRequest): Promise<Order | undefined> {
  try {
    return await request.visibleOrder(orderIdOf(request))
  } catch (error) {
    if (hasCode(error, 'order-not-found')) return undefined
    throw error
  }
}

const postOrder = {
  id: 'postOrderForm',
  summary: 'Change or cancel an order, from its page',
  answers: { 200: 'The form again, with more room.', 303: 'To the order.' },
  problems: ['order-not-found', 'invalid-order', 'order-refused', 'order-number-taken', 'transition-refused']
} as const

export default fp(orderPages, { name: 'order-pages', encapsulate: true, dependencies: ['order', 'form-pages'] })
