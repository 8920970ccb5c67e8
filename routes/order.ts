import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { guest, mayChange } from '../domain/caller.ts'
import { textOf } from '../domain/deferred.ts'
import { isOpen, type Order, type PurchaseOrder } from '../domain/order.ts'
import { emptyInventory, matchesOrder } from '../domain/placing.ts'
import { productIdPattern } from '../domain/product.ts'
import { Problem } from '../http/problem.ts'
import { mostBytes } from '../http/problem-size.ts'
import type { QuerySchema } from '../http/query-schema.ts'
import { idempotencyField } from '../plugins/idempotency.ts'
import { uris } from '../representations/links.ts'
import {
  blankOrderRepresentations,
  linesPerPage,
  newOrderTitle,
  orderRepresentations,
  orderTitle,
  orderValues
} from '../representations/order.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import { fitsForm, hasRoom, lineCount, type OrderForm, renderOrderForm, renderRefusedForm } from '../representations/views/order-form.ts'
import { refusalNotice } from '../representations/views.ts'
import { changedOrder, purchaseOrder } from '../schemas/purchase-order.ts'
import { orderPath } from './parameters.ts'
import { choices, type Lookup, withoutBarcodes } from './product-options.ts'
import type { RoutePlugin } from './route.ts'

const blankQuery: QuerySchema<{ readonly product?: readonly string[] }> = {
  type: 'object',
  additionalProperties: false,
  properties: {
    product: {
      type: 'array',
      items: { type: 'string', pattern: `^${productIdPattern}$` },
      maxItems: 100,
      description: 'The products to start with: the parameter may be repeated.'
    }
  }
}

const orderQuery: QuerySchema<{ readonly form?: string; readonly page?: number }> = {
  type: 'object',
  properties: {
    form: {
      type: 'string',
      description: 'Of the page for people: `change` is the form that changes the order, where it is not too large for one.'
    },
    page: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: `Of the page for people, which of its pages: each has up to ${linesPerPage} lines. XML and JSON always have them all.`
    }
  }
}

/** What a form is made of is parsed in the thread that serves, so an order is only looked at up to this many characters. */
const mostLookedAt = 192 * 1024

const isSmall = (order: Order) => (textOf(order) ?? '').length <= mostLookedAt

const buyer = { anyOf: ['order'], guests: true, readsForm: true } as const
const one = { represents: orderRepresentations, caching: 'private' } as const

/** The seller sees every order, and changes none: it has their status. */
const toSee = { anyOf: ['order', 'fulfilment'], guests: true } as const
const toChange = { anyOf: ['order'], guests: true } as const

/** Problems after which the same key would be refused again. */
const spentKey = ['idempotency-key-reused', 'malformed-request']

const blankOrder = {
  id: 'getBlankOrder',
  summary: 'A blank order to fill in: a form, or a document',
  answers: { 200: 'The blank order.' }
} as const
const placeOrder = {
  id: 'placeOrder',
  summary: 'Place an order',
  notes: 'All or nothing: every item that stands in the way is named in one answer. With an `Idempotency-Key` it is safe to repeat.',
  answers: {
    201: 'The order as it was placed.',
    200: 'The order of this number and content, which was placed before.',
    303: 'To a form: the order was placed.'
  },
  problems: ['invalid-order', 'order-refused', 'order-number-taken'],
  idempotent: true
} as const
const getOrder = { id: 'getOrder', summary: 'One order', answers: { 200: 'The order.' }, problems: ['order-not-found'] } as const
const changeOrder = {
  id: 'changeOrder',
  summary: 'Change an order before it ships',
  notes:
    'What it had of a product keeps its price; more of it, and what is new, costs today’s: a line that has both prices becomes two. A customer’s order is changed by that customer only.',
  answers: { 200: 'The order as it is now.' },
  problems: ['order-not-found', 'invalid-order', 'order-refused', 'order-number-taken', 'transition-refused']
} as const
const cancelOrder = {
  id: 'cancelOrder',
  summary: 'Cancel an order before it ships',
  notes:
    'It stays readable, as cancelled, and its stock is given back. A customer’s order is cancelled here by that customer only; the seller sets its status.',
  answers: { 200: 'The order, cancelled.' },
  problems: ['order-not-found', 'transition-refused']
} as const
const postOrder = {
  id: 'postOrderForm',
  summary: 'Change or cancel an order, from its page',
  answers: { 200: 'The form again, with more room.', 303: 'To the order.' },
  problems: changeOrder.problems
} as const

const order: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)
  const guestsMayOrder = config.GUEST_ORDERS

  /** @throws Problem `invalid-document` */
  function typedOf(request: FastifyRequest): ReadonlyMap<string, string> {
    const values = new Map(request.form())
    if (lineCount(values) <= config.MAX_ORDER_ITEMS) return values
    throw new Problem('invalid-document', `An order can have ${config.MAX_ORDER_ITEMS} lines at most. Nothing was stored.`)
  }

  /** What is to come back whole, since it is to be sent again. @throws Problem `invalid-document` */
  function wholeOf(request: FastifyRequest): ReadonlyMap<string, string> {
    const values = typedOf(request)
    if (!request.submission?.fields?.isCut && hasRoom(values)) return values
    throw new Problem(
      'invalid-document',
      'The form has more lines than a page has room for. Nothing was stored. Send the order as it is, or as XML or JSON.'
    )
  }

  /** What was refused comes back as far as an answer has room for it; undefined: not even a part of it fits. */
  function render(request: FastifyRequest, form: OrderForm): string | undefined {
    if (!form.problem) return renderOrderForm(form, request.context())
    return renderRefusedForm(form, request.context(), request.submission?.fields?.isCut ?? false, mostBytes)
  }

  /** Each barcode is a search, and counts as a request of its own. */
  function lookup(request: FastifyRequest): Lookup {
    return {
      product: (id) => app.store.product(id),
      async products(query) {
        request.charge(1)
        return request.findProducts(query)
      }
    }
  }

  async function newOrderForm(request: FastifyRequest, values: ReadonlyMap<string, string>, problem?: ProblemDocument) {
    const key = values.get(idempotencyField)
    const form = {
      title: newOrderTitle,
      action: uri.placeOrder,
      values,
      idempotencyKey: key && !spentKey.some((code) => problem?.type === uri.problem(code)) ? key : randomUUID(),
      products: await choices(app.store, values),
      guestsMayOrder
    }
    return render(request, { ...form, ...again(values, problem) })
  }

  async function changeForm(request: FastifyRequest, current: Order, typed?: ReadonlyMap<string, string>, problem?: ProblemDocument) {
    const values = typed ?? orderValues(current, request.context())
    // Who was overtaken, and is told so, may send the same again for the version that there is now.
    const read = problem?.status === 412 ? undefined : typed?.get('_if-match')
    const form = {
      title: `Change ${orderTitle(current).replace('Order', 'order')}`,
      action: uri.order(current.id),
      values,
      tag: read ?? request.formTag(current) ?? '',
      kept: isSmall(current) ? current.items : [],
      products: await choices(app.store, values),
      guestsMayOrder
    }
    return render(request, { ...form, ...again(values, problem) })
  }

  /** What somebody typed who may not see the order now, signed out meanwhile for one: nothing of it but what was sent. */
  function changeOfNobody(request: FastifyRequest, values: ReadonlyMap<string, string>, problem: ProblemDocument) {
    const form = { title: 'Change an order', values, tag: values.get('_if-match') ?? '', products: [], guestsMayOrder }
    return render(request, { ...form, action: uri.order(idOf(request)), ...again(values, problem) })
  }

  /** The form again where its content was refused; the order as it stands where that is what stands in the way. */
  async function refusedChange(request: FastifyRequest, problem: ProblemDocument): Promise<string | undefined> {
    const fields = typedOf(request)
    const changes = fields.get('_method') === 'PUT'
    if ([401, 403, 404].includes(problem.status)) return changes ? changeOfNobody(request, fields, problem) : undefined
    const current = await request.visibleOrder(idOf(request))
    if (changes && isOpen(current.status) && mayChange(request.caller ?? guest, current))
      return changeForm(request, current, fields, problem)
    return request.page(current, { notice: refusalNotice(problem, 'the order') })
  }

  /** Large orders are compared beside the thread that serves. */
  async function saysTheSame(request: FastifyRequest, wanted: PurchaseOrder, current: Order): Promise<boolean> {
    if (textOf(wanted) === undefined && textOf(current) === undefined) return matchesOrder(wanted, current, emptyInventory, config.CURRENCY)
    const [given, standing] = [wanted, current].map((order) => textOf(order) ?? JSON.stringify(order)) as [string, string]
    return request.withRoomFor(standing.length, () => app.documents.compare(request, given, standing, config.CURRENCY))
  }

  async function change(request: FastifyRequest, id: string, read: () => PurchaseOrder | Promise<PurchaseOrder>): Promise<Order> {
    const current = await request.changeableOrder(id)
    const wanted = await read()
    // A person who pressed the button twice has not been overtaken by anybody.
    const isRepeated = request.form() !== undefined && isOpen(current.status) && (await saysTheSame(request, wanted, current))
    if (isOpen(current.status) && request.isDone(isRepeated)) return current
    const expected = request.expectation(request.currentOf(current), 'replaces')
    return app.store.changeOrder(current.id, wanted, expected, config.MAX_ORDER_ITEMS)
  }

  async function cancel(request: FastifyRequest, id: string): Promise<Order> {
    const current = await request.changeableOrder(id)
    if (request.isDone(current.status === 'cancelled')) return current
    const expected = request.expectation(request.currentOf(current))
    return app.store.setOrderStatus(current.id, 'cancelled', expected)
  }

  // Never kept: each form carries a new idempotency key.
  app.get(
    '/order',
    { schema: { querystring: blankQuery }, config: { represents: blankOrderRepresentations, caching: 'never', describes: blankOrder } },
    async (request, reply) => {
      const { product: productIds = [] } = request.query
      if (request.representation?.suffix !== 'html') return reply.represent({ currency: config.CURRENCY, productIds })
      const products = await choices(app.store, new Map(productIds.map((id, i) => [`item.${i + 1}.product-id`, id])))
      return reply.represent({ currency: config.CURRENCY, productIds, form: { idempotencyKey: randomUUID(), products, guestsMayOrder } })
    }
  )

  app.post(
    '/order',
    {
      schema: { body: purchaseOrder },
      config: {
        represents: orderRepresentations,
        caching: 'private',
        access: buyer,
        form: {
          refused: async (request, problem) => newOrderForm(request, typedOf(request), problem),
          more: async (request) => newOrderForm(request, await withoutBarcodes(lookup(request), wholeOf(request)))
        },
        describes: placeOrder
      }
    },
    async (request, reply) => {
      const customer = request.caller?.kind === 'key' ? { customer: request.caller.customer } : {}
      const status = config.ACCEPTANCE === 'manual' ? 'received' : 'accepted'
      const { order, outcome, replayed } = await request.idempotently((idempotency) =>
        app.store.placeOrder({ order: request.body, status, ...customer, ...idempotency })
      )
      if (replayed) reply.header('idempotent-replayed', 'true')
      if (request.form()) return reply.redirect(uri.order(order.id), 303)
      const place = uri.order(order.id)
      if (outcome === 'repeated') return reply.header('location', place).represent(order, place)
      return reply.created(place, order)
    }
  )

  app.get(
    '/order/:order_id',
    { schema: { params: orderPath, querystring: orderQuery }, config: { ...one, access: toSee, describes: getOrder } },
    async (request, reply) => {
      const order = await request.visibleOrder(request.params.order_id)
      const wantsForm = request.representation?.suffix === 'html' && request.query.form === 'change' && isSmall(order) && fitsForm(order)
      if (!wantsForm || !isOpen(order.status) || !mayChange(request.caller ?? guest, order)) return reply.represent(order)
      return reply
        .headers({ 'cache-control': app.cachePolicies.never })
        .type('text/html; charset=utf-8')
        .send(await changeForm(request, order))
    }
  )

  app.put(
    '/order/:order_id',
    { schema: { params: orderPath, body: changedOrder }, config: { ...one, access: toChange, describes: changeOrder } },
    async (request, reply) => reply.represent(await change(request, request.params.order_id, () => request.body))
  )

  app.delete(
    '/order/:order_id',
    { schema: { params: orderPath }, config: { ...one, access: toChange, describes: cancelOrder } },
    async (request, reply) => reply.represent(await cancel(request, request.params.order_id))
  )

  // A browser's forms know no PUT and DELETE.
  const form = {
    refused: refusedChange,
    more: async (request: FastifyRequest) =>
      changeForm(request, await request.changeableOrder(idOf(request)), await withoutBarcodes(lookup(request), wholeOf(request)))
  }
  app.post(
    '/order/:order_id',
    { schema: { params: orderPath }, config: { ...one, access: { ...toChange, readsForm: true }, form, describes: postOrder } },
    async (request, reply) => {
      const { order_id: id } = request.params
      const order = await request.asMethod({
        PUT: () => change(request, id, () => request.readDocument(purchaseOrder)),
        DELETE: () => cancel(request, id)
      })
      return reply.redirect(uri.order(order.id), 303)
    }
  )
}

const idOf = (request: FastifyRequest) => (request.params as { order_id: string }).order_id

function again(values: ReadonlyMap<string, string>, problem: ProblemDocument | undefined): Pick<OrderForm, 'moreRows' | 'problem'> {
  const more = Number(values.get('_more') ?? Number.NaN)
  return { ...(more >= 0 && more <= 50 ? { moreRows: more } : {}), ...(problem ? { problem } : {}) }
}

export default fp(order, {
  name: 'order',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'visibility', 'idempotency', 'forms', 'sharing']
})
