import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isDeferred, jsonOf } from '../domain/deferred.ts'
import { requireSameId } from '../domain/identity.ts'
import { isOpen, type Order, type PurchaseOrder } from '../domain/order.ts'
import { emptyInventory, matchesOrder } from '../domain/placing.ts'
import { productIdPattern } from '../domain/product.ts'
import type { Placing } from '../domain/store.ts'
import { parseHandling } from '../http/preferences.ts'
import type { QuerySchema } from '../http/query-schema.ts'
import { uris } from '../representations/links.ts'
import { blankOrderRepresentations, linesPerPage, orderPageValidators, orderRepresentations } from '../representations/order.ts'
import { maxFormLines } from '../representations/views/order-form-lines.ts'
import { changedOrder, purchaseOrder } from '../schemas/purchase-order.ts'
import { toPlaceOrChange, toSeeOrder } from './access.ts'
import { makeBuyerOrders } from './buyer-orders.ts'
import { dryRunQuery, isDryRun, refuseStrayDryRun } from './dry-run.ts'
import { showShipments } from './latest-shipments.ts'
import { orderFormNames, orderForms } from './order-forms.ts'
import { orderOptions } from './order-options.ts'
import { orderPath } from './parameters.ts'
import { changeOrder, placeOrder, placingOf } from './placing.ts'
import type { RoutePlugin } from './route.ts'
import { orderWithStatus, statusSetter } from './setting-status.ts'

/** Orders as documents. The form that changes an order is posted to the routes in order-pages.ts. */
const order: RoutePlugin = async (app, { config }) => {
  app.addHook('preValidation', refuseStrayDryRun)
  const uri = uris(config.BASE_URL.path)
  const forms = orderForms(config)
  const buyers = makeBuyerOrders(app, config, matches)
  const one = { represents: orderRepresentations, caching: 'private' } as const

  // Every form carries a new idempotency key, so a page is never cached.
  app.get(
    '/order',
    { schema: { querystring: blankQuery }, config: { represents: blankOrderRepresentations, caching: 'never', describes: blankOrder } },
    async (request, reply) => {
      const { product: productIds = [], quantity: quantities = [] } = request.query
      const lines = { productIds, quantities }
      await forms.blank(request, lines, (form) => reply.represent({ ...lines, ...form }))
      return reply
    }
  )

  app.post(
    '/order',
    {
      schema: { body: purchaseOrder, querystring: dryRunQuery },
      config: { ...one, access: toPlaceOrChange, form: forms.newOrder, buyers, placesOrder: isAttempt, describes: placesOrder }
    },
    async (request, reply) => {
      const handling = parseHandling(request.operation.prefer)
      const placing = { ...placingOf(request, config), ...(handling === 'lenient' ? { handling } : {}) }
      if (isDryRun(request)) return dryRun(request, reply, placing)
      const { order, outcome, replayed } = await request.idempotently((idempotency) =>
        placeOrder(app.store, request, { ...placing, ...idempotency })
      )
      applyHandling(reply, placing)
      if (replayed) reply.header('idempotent-replayed', 'true')
      return outcome === 'repeated' ? found(reply, order) : reply.created(uri.order(order.id), order)
    }
  )

  app.get(
    '/order/:order_id',
    { schema: { params: orderPath, querystring: orderQuery }, config: { ...one, access: toSeeOrder, describes: getOrder } },
    async (request, reply) => {
      const form = orderFormNames.find((name) => name === request.query.form)
      const head = await request.visibleOrderHead(request.params.order_id)
      if (!form && reply.revalidate(orderPageValidators(head, request.context()), false)) return reply
      const order = await request.wholeOrder(head)
      if (form && (await forms.sendForm(request, reply, order, form))) return reply
      await showShipments(request, order)
      return reply.represent(order)
    }
  )

  app.put(
    '/order/:order_id',
    { schema: { params: orderPath, body: changedOrder }, config: { ...one, access: toPlaceOrChange, describes: changesOrder } },
    async (request, reply) => {
      const current = await request.changeableOrder(request.params.order_id)
      requireSameId(current.id, request.submission?.named)
      const wanted = request.body
      if (isOpen(current.status)) {
        const isRepeated = request.operation.mayRepeat && (await matches(request, wanted, current))
        if (request.isAlreadySatisfied(isRepeated)) return reply.represent(current)
      }
      const expected = request.precondition(request.currentOf(current), 'replaces')
      const change = { order: wanted, expected, mostItems: config.MAX_ORDER_ITEMS, ...orderOptions(request) }
      return reply.represent(await changeOrder(app.store, request, current, change))
    }
  )

  app.delete(
    '/order/:order_id',
    { schema: { params: orderPath }, config: { ...one, access: toPlaceOrChange, describes: cancelOrder } },
    async (request, reply) => {
      const current = await request.changeableOrder(request.params.order_id)
      const set = statusSetter(app.store, request, current)
      const unchanged = await orderWithStatus(set, current, 'cancelled')
      if (request.isAlreadySatisfied(unchanged !== undefined)) return reply.represent(unchanged)
      const expected = request.precondition(request.currentOf(current))
      return reply.represent(await set('cancelled', expected))
    }
  )

  /** Answers with the order as it would be, or with the existing order that the document repeats. */
  async function dryRun(request: FastifyRequest, reply: FastifyReply, placing: Placing): Promise<FastifyReply> {
    request.checkIdempotencyKey()
    const { order, outcome } = await placeOrder(app.store, request, { ...placing, mode: 'dry-run' })
    applyHandling(reply, placing)
    return outcome === 'repeated' ? found(reply, order) : reply.sendChecked(order)
  }

  /** Tells the client that the order was handled as it prefers. */
  function applyHandling(reply: FastifyReply, { handling }: Placing): void {
    if (handling) reply.applyPreference(`handling=${handling}`)
  }

  /** Answers with an existing order. */
  function found(reply: FastifyReply, order: Order): FastifyReply {
    const place = uri.order(order.id)
    return reply.header('location', place).represent(order, place)
  }

  /** Whether the order already has the wanted content. The document process compares large orders. */
  async function matches(request: FastifyRequest, wanted: PurchaseOrder, current: Order): Promise<boolean> {
    if (!isDeferred(wanted) && !isDeferred(current)) return matchesOrder(wanted, current, emptyInventory, config.CURRENCY)
    const [wantedText, currentText] = [jsonOf(wanted), jsonOf(current)]
    return request.withRoomFor(currentText, () => app.documents.compare(request, wantedText, currentText, config.CURRENCY))
  }
}

/** Whether a request is to place an order, and not only to check one. */
const isAttempt = (request: FastifyRequest) => !isDryRun(request)

const blankQuery: QuerySchema<{ readonly product?: readonly string[]; readonly quantity?: readonly string[] }> = {
  type: 'object',
  additionalProperties: false,
  properties: {
    product: {
      type: 'array',
      items: { type: 'string', pattern: `^${productIdPattern}$` },
      maxItems: maxFormLines,
      description: 'The products to start with: the parameter may be repeated.'
    },
    quantity: {
      type: 'array',
      items: { type: 'string', pattern: '^(\\d{1,9}(\\.\\d{1,3})?)?$' },
      maxItems: maxFormLines,
      description: 'The quantities of these products, in the same order.'
    }
  }
}

const orderQuery: QuerySchema<{ readonly form?: string; readonly page?: number }> = {
  type: 'object',
  properties: {
    form: {
      type: 'string',
      description:
        'HTML only, for the buyer: `change` shows the form that changes the order, `again` one for a new order with its products and addresses. An order that is too large for a form is shown instead.'
    },
    page: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: `HTML only: the number of the page of lines. A page has up to ${linesPerPage} lines; XML and JSON always have all lines.`
    }
  }
}

const blankOrder = {
  id: 'getBlankOrder',
  summary: 'A blank order to fill in: a form, or a document',
  answers: { 200: 'The blank order.' }
} as const
const placesOrder = {
  id: 'placeOrder',
  summary: 'Place an order',
  notes:
    'All or nothing: if items cannot be ordered, one answer names them all. With `Prefer: handling=lenient` an order in XML or JSON takes what is available, and each item says what became of it. With an `Idempotency-Key` it is safe to repeat. XML can also be a UBL 2 Order, OrderChange or OrderCancellation, or cXML, and is answered in its own vocabulary.',
  answers: {
    201: 'The order as it was placed.',
    200: 'The order of this number and content, which was placed before. With `dry-run=true`, the order as it would be.',
    303: 'For a form: a redirect to the order that was placed.'
  },
  problems: ['invalid-order', 'order-refused', 'order-number-taken'],
  idempotent: true,
  checks: true
} as const
const getOrder = { id: 'getOrder', summary: 'One order', answers: { 200: 'The order.' }, problems: ['order-not-found'] } as const
const changesOrder = {
  id: 'changeOrder',
  summary: 'Change an order before it ships',
  notes:
    "The quantity that was already ordered keeps its price. An additional quantity, or a new product, costs today's price. A line that would have both prices becomes two lines. A customer's order is changed by that customer only.",
  answers: { 200: 'The order as it is now.' },
  problems: ['order-not-found', 'invalid-order', 'order-refused', 'order-number-taken', 'transition-refused', 'identity-mismatch']
} as const
const cancelOrder = {
  id: 'cancelOrder',
  summary: 'Cancel an order before it ships',
  notes:
    "The order stays readable, with the status `cancelled`, and its stock is given back. If a part of it was shipped, only the rest is cancelled, and the order becomes `shipped`. A customer's order is cancelled here by that customer only; the seller sets its status.",
  answers: { 200: 'The order, cancelled.' },
  problems: ['order-not-found', 'transition-refused']
} as const

export default fp(order, {
  name: 'order',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'visibility', 'idempotency', 'form-pages', 'sharing', 'buyer-documents']
})
