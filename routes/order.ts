import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { guest, mayChange } from '../domain/caller.ts'
import { isOpen, type Order, type PurchaseOrder } from '../domain/order.ts'
import { type Shelves, sameContent } from '../domain/placing.ts'
import { productIdPattern } from '../domain/product.ts'
import type { QuerySchema } from '../plugins/documents.ts'
import { idempotencyField } from '../plugins/idempotency.ts'
import { Problem } from '../plugins/problem.ts'
import { uris } from '../representations/links.ts'
import {
  blankOrderRepresentations,
  newOrderTitle,
  orderRepresentations,
  orderTitle,
  orderValues,
  type ShownOrder
} from '../representations/order.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import { lineCount, type OrderForm, renderOrderForm } from '../representations/views/order-form.ts'
import { refusalNotice } from '../representations/views.ts'
import { changedOrder, purchaseOrder } from '../schemas/purchase-order.ts'
import { choices, withoutBarcodes } from './choices.ts'
import { orderPath } from './parameters.ts'
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
  notes: 'Lines for products that it had keep their price; new ones get today’s. A customer’s order is changed by that customer only.',
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

  /** A page of more lines than an order may have would be larger than what was sent by orders of magnitude. */
  function typedOf(request: FastifyRequest): ReadonlyMap<string, string> {
    const values = new Map(request.form())
    if (lineCount(values) <= config.MAX_ORDER_ITEMS) return values
    throw new Problem('invalid-document', `An order can have ${config.MAX_ORDER_ITEMS} lines at most. Nothing was stored.`)
  }

  async function newOrderForm(request: FastifyRequest, values: ReadonlyMap<string, string>, problem?: ProblemDocument): Promise<string> {
    const key = values.get(idempotencyField)
    const form = {
      title: newOrderTitle,
      action: uri.placeOrder,
      values,
      idempotencyKey: key && !spentKey.some((code) => problem?.type === uri.problem(code)) ? key : randomUUID(),
      products: await choices(app.store, values),
      guestsMayOrder
    }
    return renderOrderForm({ ...form, ...again(values, problem) }, request.context())
  }

  async function changeForm(
    request: FastifyRequest,
    current: Order,
    typed?: ReadonlyMap<string, string>,
    problem?: ProblemDocument
  ): Promise<string> {
    const values = typed ?? orderValues(current, request.context())
    // Who was overtaken, and is told so, may send the same again for the version that there is now.
    const read = problem?.status === 412 ? undefined : typed?.get('_if-match')
    const form = {
      title: `Change ${orderTitle(current).replace('Order', 'order')}`,
      action: uri.order(current.id),
      values,
      tag: read ?? request.pageTag(current) ?? '',
      kept: current.items,
      products: await choices(app.store, values),
      guestsMayOrder
    }
    return renderOrderForm({ ...form, ...again(values, problem) }, request.context())
  }

  /** What somebody typed who may not see the order now, signed out meanwhile for one: nothing of it but what was sent. */
  function changeOfNobody(request: FastifyRequest, values: ReadonlyMap<string, string>, problem: ProblemDocument): string {
    const form = { title: 'Change an order', values, tag: values.get('_if-match') ?? '', products: [], guestsMayOrder }
    return renderOrderForm({ ...form, action: uri.order(idOf(request)), ...again(values, problem) }, request.context())
  }

  /** The form again where its content was refused; the order as it stands where that is what stands in the way. */
  async function refusedChange(request: FastifyRequest, problem: ProblemDocument): Promise<string | undefined> {
    const fields = typedOf(request)
    const changes = fields.get('_method') === 'PUT'
    if ([401, 403, 404].includes(problem.status)) return changes ? changeOfNobody(request, fields, problem) : undefined
    const current = await request.visibleOrder(idOf(request))
    if (changes && isOpen(current.status) && mayChange(request.caller ?? guest, current))
      return changeForm(request, current, fields, problem)
    const shown: ShownOrder = {
      ...current,
      tag: request.pageTag(current),
      notice: refusalNotice(problem, 'the order')
    }
    return orderRepresentations.variants.find(({ suffix }) => suffix === 'html')?.write(shown, request.context())
  }

  async function change(request: FastifyRequest, id: string, read: () => PurchaseOrder): Promise<Order> {
    const current = await request.changeableOrder(id)
    const wanted = read()
    // A person who pressed the button twice has not been overtaken by anybody.
    const isRepeated = request.form() !== undefined && sameContent(wanted, current, noShelves, config.CURRENCY)
    if (isOpen(current.status) && request.isDone(isRepeated)) return current
    const expected = request.expectation(request.currentOf(current), 'replaces')
    return app.store.changeOrder(current.id, wanted, expected)
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
          more: async (request) => newOrderForm(request, await withoutBarcodes(app.store, typedOf(request)))
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
      const shown = { ...order, tag: request.pageTag(order, place) }
      if (outcome === 'repeated') return reply.header('location', place).represent(shown, place)
      return reply.created(place, shown)
    }
  )

  app.get(
    '/order/:order_id',
    { schema: { params: orderPath }, config: { ...one, access: toSee, describes: getOrder } },
    async (request, reply) => {
      const order = await request.visibleOrder(request.params.order_id)
      const wantsForm =
        request.representation?.suffix === 'html' && new URL(request.url, 'http://localhost').searchParams.get('form') === 'change'
      if (!wantsForm || !isOpen(order.status) || !mayChange(request.caller ?? guest, order)) return represented(request, reply, order)
      return reply
        .headers({ 'cache-control': app.cachePolicies.never })
        .type('text/html; charset=utf-8')
        .send(await changeForm(request, order))
    }
  )

  app.put(
    '/order/:order_id',
    { schema: { params: orderPath, body: changedOrder }, config: { ...one, access: toChange, describes: changeOrder } },
    async (request, reply) => represented(request, reply, await change(request, request.params.order_id, () => request.body))
  )

  app.delete(
    '/order/:order_id',
    { schema: { params: orderPath }, config: { ...one, access: toChange, describes: cancelOrder } },
    async (request, reply) => represented(request, reply, await cancel(request, request.params.order_id))
  )

  // A browser's forms know no PUT and DELETE.
  const form = {
    refused: refusedChange,
    more: async (request: FastifyRequest) =>
      changeForm(request, await request.changeableOrder(idOf(request)), await withoutBarcodes(app.store, typedOf(request)))
  }
  app.post(
    '/order/:order_id',
    { schema: { params: orderPath }, config: { ...one, access: { ...toChange, readsForm: true }, form, describes: postOrder } },
    async (request, reply) => {
      const { order_id: id } = request.params
      const order = await request.asMethod({
        PUT: () => change(request, id, () => request.formDocument(purchaseOrder)),
        DELETE: () => cancel(request, id)
      })
      return reply.redirect(uri.order(order.id), 303)
    }
  )
}

function represented(request: FastifyRequest, reply: FastifyReply, order: Order): FastifyReply {
  return reply.represent({ ...order, tag: request.pageTag(order) })
}

const idOf = (request: FastifyRequest) => (request.params as { order_id: string }).order_id

/** An order's own GTINs are found without them. */
const noShelves: Shelves = { byId: () => undefined, byGtin: () => undefined }

function again(values: ReadonlyMap<string, string>, problem: ProblemDocument | undefined): Pick<OrderForm, 'moreRows' | 'problem'> {
  const more = Number(values.get('_more') ?? Number.NaN)
  return { ...(more >= 0 && more <= 50 ? { moreRows: more } : {}), ...(problem ? { problem } : {}) }
}

export default fp(order, {
  name: 'order',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'visibility', 'idempotency', 'forms']
})
