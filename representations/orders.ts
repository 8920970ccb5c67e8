import { hasScope } from '../domain/caller.ts'
import { type OrderSummary, orderStatuses } from '../domain/order.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import { type Context, instant, represent } from './representation.ts'
import { statistics } from './statistics.ts'
import { renderPage } from './views.ts'

export interface OrderPage {
  readonly orders: readonly OrderSummary[]
  readonly links: readonly Link[]
  readonly query: { readonly status?: string | undefined }
}

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

export const ordersRepresentations = represent<OrderPage>({
  type: rootType(orderXsd, 'orders'),
  element: (page, context) =>
    element('orders', {}, [...page.orders.map((order) => summaryElement(order, context)), ...page.links.map(linkElement)]),
  html: (page, context) => {
    const { caller } = context
    const { links, query } = page
    const range = {
      status: query.status,
      hasNewer: links.some(({ rel, href }) => rel === 'self' && /[?&]after=/.test(href)),
      hasOlder: links.some(({ rel }) => rel === 'next')
    }
    const isSeller = hasScope(caller, 'fulfilment')
    const customer = caller.kind === 'key' ? caller.customer : undefined
    return renderPage(
      'orders',
      'Orders',
      { ...page, isSeller, customer, statuses: orderStatuses, charts: isSeller ? statistics(page.orders, range) : [] },
      context
    )
  },
  links: ({ links }) => links,
  schema: 'orders'
})
