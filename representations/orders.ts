import { hasScope, mostCustomerCharacters } from '../domain/caller.ts'
import { type Order, type OrderStatus, type OrderSummary, orderStatuses } from '../domain/order.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { mostOrderNumberCharacters, orderXsd } from '../schemas/purchase-order.ts'
import { type ElementType, rootType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import { isLaterPage, makeListRepresentations } from './list.ts'
import { orderElement, partlyShipped } from './order.ts'
import { type Context, instant, type Validators } from './representation.ts'
import { statistics } from './statistics.ts'
import { renderPage, renderPart } from './views.ts'

/** The filters of a list of orders, as the query has them. */
export interface OrderFilters {
  readonly status?: OrderStatus | undefined
  readonly customer?: string | undefined
  readonly 'order-number'?: string | undefined
  readonly 'placed-since'?: string | undefined
  readonly 'modified-since'?: string | undefined
  readonly order?: 'newest' | 'oldest' | undefined
}

export interface OrderPage {
  /** Summaries, or the whole orders. */
  readonly orders: readonly (OrderSummary | Order)[]
  readonly links: readonly Link[]
  readonly query: OrderFilters
  readonly validators: Validators
}

const isWhole = (order: OrderSummary | Order): order is Order => 'items' in order

function summaryElement(order: OrderSummary, { base }: Context): Element {
  const uri = uris(base)
  return element('order', { id: order.id, version: String(order.version) }, [
    element('status', {}, order.status),
    element('placed-at', {}, instant(order.placedAt)),
    element('modified-at', {}, instant(order.modifiedAt)),
    textElement('customer', order.customer),
    textElement('order-number', order.orderNumber),
    element('item-count', {}, String(order.itemCount)),
    element('total', { currency: order.currency }, order.total),
    linkElement({ rel: 'self', href: uri.order(order.id) }),
    linkElement({ rel: 'status', href: uri.orderStatus(order.id) })
  ])
}

const page = rootType(orderXsd, 'orders')

function withOrders(replace: (order: ElementType) => ElementType): ElementType {
  return { ...page, children: page.children.map((child) => (child.name === 'order' ? replace(child) : child)) }
}

/** In JSON, a whole order has the same empty arrays as at its own URI. The only array of a summary is its links. */
const pageOfWhole = withOrders((listed) => ({ ...rootType(orderXsd, 'order'), repeatable: true, required: listed.required }))
const pageOfSummaries = withOrders((listed) => ({
  ...listed,
  children: listed.children.filter(({ name, repeatable }) => !repeatable || name === 'link')
}))

/** Describes for people which orders the page lists. */
function leadOf({ order = 'newest', 'modified-since': since, 'order-number': number }: OrderFilters): string {
  return `${order} first${since !== undefined && number === undefined ? ', by their last change' : ''}`
}

/** The charts count days from the first order on the page to the last, so they need orders that are sorted by day, the newest first. */
function chartsOf({ orders, links, query }: OrderPage, hasNewer: boolean) {
  const { status, order, 'placed-since': placedSince, 'modified-since': modifiedSince } = query
  if (order === 'oldest' || modifiedSince !== undefined) return []
  const hasOlder = placedSince !== undefined || links.some(({ rel }) => rel === 'next')
  return statistics(orders as readonly OrderSummary[], { status, hasNewer, hasOlder })
}

/** The most characters of the filters that are typed in. */
const most = { customer: mostCustomerCharacters, orderNumber: mostOrderNumberCharacters }

const isSeller = ({ caller }: Context) => hasScope(caller, 'fulfilment')

export const ordersRepresentations = makeListRepresentations<OrderPage, OrderSummary | Order>({
  name: 'orders',
  type: ({ orders }) => (orders.some(isWhole) ? pageOfWhole : pageOfSummaries),
  items: ({ orders }) => orders,
  element: (order, context) => (isWhole(order) ? orderElement(order, context) : summaryElement(order, context)),
  html: {
    rows: (orders, _, context) => renderPart('order-rows', { orders, isSeller: isSeller(context), partlyShipped }, context),
    page: (page, rows, context) => {
      const { caller } = context
      const customer = caller.kind === 'key' ? caller.customer : undefined
      const seller = isSeller(context)
      const isLater = isLaterPage(context.self)
      const data = { ...page, rows, isLater, lead: leadOf(page.query), isSeller: seller, customer, statuses: orderStatuses, most }
      return renderPage('orders', 'Orders', { ...data, charts: seller ? chartsOf(page, isLater) : [] }, context)
    }
  },
  validators: ({ validators }) => validators,
  schema: 'orders'
})
