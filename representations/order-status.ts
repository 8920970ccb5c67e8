import { hasScope } from '../domain/caller.ts'
import { nextStatuses, type Order } from '../domain/order.ts'
import { element } from '../schemas/element.ts'
import { orderStatusXsd } from '../schemas/order-status.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { linkElement, uris } from './links.ts'
import { orderLinks, orderTitle, orderValidators } from './order.ts'
import { type Context, instant, represent } from './representation.ts'
import { renderPage } from './views.ts'

/** Links to the status, to its order, and to the statuses that this caller may set next. */
function statusLinks(order: Order, context: Context) {
  const status = uris(context.base).orderStatus(order.id)
  return [
    { rel: 'self', href: status },
    { rel: 'order', href: uris(context.base).order(order.id) },
    ...orderLinks(order, context).filter(({ href, method }) => href === status && method !== undefined)
  ]
}

export const orderStatusRepresentations = represent<Order>({
  type: rootType(orderStatusXsd, 'order-status'),
  element: (order, context) =>
    element('order-status', { order: order.id }, [
      element('status', {}, order.status),
      element('modified-at', {}, instant(order.modifiedAt)),
      ...statusLinks(order, context).map(linkElement)
    ]),
  html: (order, context) =>
    renderPage(
      'order-status',
      `Status of ${orderTitle(order).replace('Order', 'order')}`,
      { order, notice: context.notice, next: hasScope(context.caller, 'fulfilment') ? nextStatuses(order.status) : [] },
      context
    ),
  validators: orderValidators,
  schema: 'order-status'
})
