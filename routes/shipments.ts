import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { hasScope } from '../domain/caller.ts'
import { isDeferred, mostInline } from '../domain/deferred.ts'
import { defined } from '../domain/defined.ts'
import { hasCode } from '../domain/errors.ts'
import { isActive, isOpen, mostSummarised, type Order, type StoredOrderHead } from '../domain/order.ts'
import type { Precondition } from '../domain/preconditions.ts'
import { requireLines, type Shipment, shipmentNumber } from '../domain/shipping.ts'
import type { TypedForm } from '../http/form-post.ts'
import { isRead } from '../http/methods.ts'
import { firstLink, nextLinks, pagedQuery, startOfPage } from '../http/paging.ts'
import { Problem } from '../http/problem.ts'
import { uris } from '../representations/links.ts'
import { type Notice, refusalNotice } from '../representations/notice.ts'
import { orderRepresentations } from '../representations/order.ts'
import { orderStatusRepresentations } from '../representations/order-status.ts'
import { isHidden, type ProblemDocument } from '../representations/problem.ts'
import type { OrderOfShipment } from '../representations/representation.ts'
import { numberOfForm, type ShipmentPage, shipmentRepresentations, shipmentsRepresentations } from '../representations/shipment.ts'
import { shipment } from '../schemas/shipment.ts'
import { toFulfil, toSeeOrder } from './access.ts'
import { orderOptions } from './order-options.ts'
import { orderIdOf, orderPath, shipmentPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

const shipments: RoutePlugin = async (app, { config }) => {
  const pages = shipmentPages(config)
  const uri = uris(config.BASE_URL.path)

  app.get(
    '/order/:order_id/shipments',
    {
      schema: { params: orderPath, querystring: shipmentQuery },
      config: { represents: shipmentsRepresentations, caching: 'private', access: toSeeOrder, describes: listShipments }
    },
    async (request, reply) => {
      const { order_id: id } = request.params
      // Only the seller's page has the form that ships the order's lines.
      const isForm = request.isPage && hasScope(request.caller, 'fulfilment')
      const shown = isForm ? whole(await request.visibleOrder(id)) : { order: await request.visibleOrderHead(id) }
      return reply.represent(await pages.read(request, shown, request.query))
    }
  )

  app.post(
    '/order/:order_id/shipments',
    {
      schema: { params: orderPath, body: shipment },
      config: {
        represents: shipmentRepresentations,
        caching: 'private',
        access: toFulfil,
        checksConditions: true,
        form: { refused: pages.refused, confirms: true },
        describes: shipOrder
      }
    },
    async (request, reply) => {
      const order = await request.visibleOrder(request.params.order_id)
      if (request.operation.mustNameLines) requireLines(request.body)
      const { shipment, replayed } = await request.idempotently(({ idempotency }) => {
        const expected = pages.expected(request, order)
        const options = { ...orderOptions(request), idempotency }
        return request.changeInTurn(order, () => app.store.shipOrder(order.id, request.body, expected, options))
      })
      if (replayed) reply.header('idempotent-replayed', 'true')
      // A form is answered with a redirect, not with the page.
      if (request.isPage && !request.form()) await showOrderIfFound(request, order.id)
      return reply.created(uri.shipment(order.id, shipment.number), shipment)
    }
  )

  app.get(
    '/order/:order_id/shipment/:number',
    {
      schema: { params: shipmentPath },
      config: { represents: shipmentRepresentations, caching: 'private', access: toSeeOrder, describes: getShipment }
    },
    async (request, reply) => {
      const head = await request.visibleOrderHead(request.params.order_id)
      const number = shipmentNumber(request.params.number)
      const found = number && (await wholeShipment(request, head.id, number))
      if (!found) throw new Problem('not-found', 'The order has no such shipment.')
      request.holdRead(found)
      if (request.isPage) await showOrder(request, head)
      return reply.represent(found)
    }
  )
}

/** A large shipment is not even read without room for it, and is charged like an order. */
function wholeShipment(request: FastifyRequest, orderId: string, number: number): Promise<Shipment | undefined> {
  return request.readMakingRoom((store, most) => store.shipment(orderId, number, most))
}

/** Loads the order for the page of its shipment. */
async function showOrder(request: FastifyRequest, head: StoredOrderHead): Promise<void> {
  const isLarge = head.size > mostInline
  const order: Omit<OrderOfShipment, 'isLarge'> = isLarge ? head : await request.wholeOrder(head)
  const { id, version, modifiedAt, orderNumber, shipTo, buyer } = order
  request.showOnPage({ order: { id, version, modifiedAt, isLarge, ...defined({ orderNumber, shipTo, buyer }) } })
}

/** The shipment is stored, so its page is sent also if the order cannot be read again. Sent again after an error, it would be a second one. */
async function showOrderIfFound(request: FastifyRequest, orderId: string): Promise<void> {
  try {
    await showOrder(request, await request.visibleOrderHead(orderId))
  } catch (error) {
    request.log.warn({ err: error }, 'the page of a new shipment does not show its order')
  }
}

type ShownOrder = Pick<ShipmentPage, 'order' | 'whole'>

const whole = (order: Order): ShownOrder => ({ order, whole: order })

function shipmentPages(config: Config) {
  const uri = uris(config.BASE_URL.path)

  async function read(
    request: FastifyRequest,
    shown: ShownOrder,
    { limit, after }: { limit: number; after?: string }
  ): Promise<ShipmentPage> {
    const { order } = shown
    const wanted = { limit, ...startOfPage('shipments', after) }
    const { items, next } = await request.read((store) => store.shipments(order.id, wanted))
    const list = { path: uri.shipments(order.id), sorting: 'shipments', limit, defaultLimit: shipmentLimit.default }
    const links = [
      { rel: 'self', href: isRead(request.method) ? request.url : list.path },
      { rel: 'order', href: uri.order(order.id) },
      firstLink(list),
      ...nextLinks(list, next)
    ]
    const position = after === undefined && limit === shipmentLimit.default ? '' : `.${limit}.${after ?? ''}`
    return { version: order.version, ...shown, shipments: items, links, position }
  }

  /** Evaluates the request's preconditions. If they fail, a request with an Idempotency-Key may still repeat its first answer. */
  function expected(request: FastifyRequest, order: Order): Precondition {
    const firstPage: ShipmentPage = { version: order.version, order, shipments: [], links: [], position: '' }
    const current = [
      request.currentOf(order, uri.order(order.id), orderRepresentations),
      request.currentOf(order, uri.orderStatus(order.id), orderStatusRepresentations),
      request.currentOf(firstPage, uri.shipments(order.id), shipmentsRepresentations)
    ].flatMap((one) => one ?? [])
    try {
      return request.precondition({ version: order.version, modifiedAt: order.modifiedAt, tags: current.flatMap(({ tags }) => tags) })
    } catch (error) {
      if (!hasCode(error, 'precondition-failed') || request.operation.idempotencyKey === undefined) throw error
      return { onlyRepeat: true }
    }
  }

  /** Shows the form again, with what was typed, on the page of the order's shipments. */
  async function refused(request: FastifyRequest, problem: ProblemDocument, { fields }: TypedForm): Promise<string | undefined> {
    if (isHidden(problem)) return undefined
    const order = await request.visibleOrder(orderIdOf(request))
    const newest = await read(request, whole(order), { limit: shipmentLimit.default })
    if (problem.type === uri.problem('idempotency-key-reused')) {
      const notice = sentBefore(order, newest, numberOfForm(request.operation.idempotencyKey))
      return request.page(newest, { of: shipmentsRepresentations, notice })
    }
    const page: ShipmentPage = { ...newest, typed: new Map(fields), faults: problem.errors ?? [] }
    return request.page(page, { of: shipmentsRepresentations, notice: noticeOf(problem, order) })
  }

  return { read, expected, refused }
}

/** The notice for a form that was sent again with other content, for example after going back in the browser. */
function sentBefore({ status }: Order, { shipments }: ShipmentPage, number: number | undefined): Notice {
  const made = shipments.some((shipment) => shipment.number === number) ? `shipment ${number}` : 'a shipment'
  const left = isOpen(status) ? 'The form shows what is left.' : 'Nothing is left to ship.'
  return {
    kind: 'problem',
    title: 'This form was sent already',
    detail: `It made ${made}, which is listed below. Nothing more was shipped now. ${left}`
  }
}

/** The notice for an order that can no longer be shipped. */
function endedNotice(order: Order): Notice {
  const { status } = order
  if (!isActive(status)) return { kind: 'problem', title: `The order was ${status} in the meantime`, detail: 'Nothing was shipped.' }
  // A large order is not parsed to find out whether its rest was cancelled.
  const what = !isDeferred(order) && order.isRestCancelled ? 'The rest of the order was cancelled' : 'Somebody else changed the order'
  const detail = 'What you sent was not shipped, because nothing is left to ship. What was shipped before is listed below.'
  return { kind: 'problem', title: `${what} in the meantime`, detail }
}

/** The page lists the errors of a shipment below the notice. Other refusals are explained by the notice alone. */
function noticeOf(problem: ProblemDocument, order: Order): Notice {
  if (problem.status < 500 && !isOpen(order.status)) return endedNotice(order)
  if (problem.errors === undefined) return refusalNotice(problem, 'the order')
  const detail = 'Nothing was stored. Correct what is listed here, then send it again. This page shows the order as it is now.'
  return { kind: 'problem', title: 'The shipment has errors', detail }
}

/** Short shipments come with their lines, so a page has fewer shipments than a page of orders has orders. */
const shipmentLimit = { default: 20, max: 100 }

const shipmentQuery = pagedQuery({}, shipmentLimit)

const listShipments = {
  id: 'listShipments',
  summary: 'The shipments of an order, newest first',
  notes: `Shipments of up to ${mostSummarised} lines come with them. Follow \`next\` to the page after.`,
  answers: { 200: 'A page of shipments.' },
  problems: ['order-not-found']
} as const
const shipOrder = {
  id: 'shipOrder',
  summary: 'Ship an order, whole or in part',
  notes:
    'Without items it ships all that is left. When nothing is left, the order is `shipped`. `If-Match` takes an ETag of the order, its status or its shipments. With an `Idempotency-Key` it is safe to repeat.',
  answers: { 201: 'The shipment.', 303: 'For a form: a redirect after the shipment was made.' },
  problems: ['order-not-found', 'invalid-shipment', 'shipment-refused', 'transition-refused'],
  idempotent: true
} as const
const getShipment = {
  id: 'getShipment',
  summary: 'One shipment of an order',
  answers: { 200: 'The shipment.' },
  problems: ['order-not-found']
} as const

export default fp(shipments, {
  name: 'shipments',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'visibility', 'idempotency', 'preconditions', 'form-pages', 'sharing']
})
