import { hasScope, mayShip, settableStatuses } from '../domain/caller.ts'
import { isActive, type Order, type SellerDetails } from '../domain/order.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { orderStatusXsd } from '../schemas/order-status.ts'
import { childType, rootType } from '../schemas/vocabulary.ts'
import { linkElement, uris } from './links.ts'
import { orderLinks, orderName, orderValidators, progressSteps } from './order.ts'
import { type Context, instant, makeRepresentations } from './representation.ts'
import { shipForm } from './shipment.ts'
import { fieldOf, noErrors, type Values } from './views/fields.ts'
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

function detailElements({ expectedDeliveryDate, sellerNote }: SellerDetails): (Element | undefined)[] {
  return [textElement('expected-delivery-date', expectedDeliveryDate), textElement('note', sellerNote)]
}

const hasDetails = ({ expectedDeliveryDate, sellerNote }: SellerDetails) => expectedDeliveryDate !== undefined || sellerNote !== undefined

const type = rootType(orderStatusXsd, 'order-status')

/** The fields of the seller's form. A refused form has what was typed in it. */
function sellerFields({ expectedDeliveryDate = '', sellerNote = '' }: SellerDetails, typed: Values) {
  const stored: Values = new Map([
    ['expected-delivery-date', expectedDeliveryDate],
    ['note', sellerNote]
  ])
  const values = typed.size > 0 ? typed : stored
  return [...stored.keys()].map((name) => fieldOf(childType(type, name), name, values, noErrors))
}

export const orderStatusRepresentations = makeRepresentations<Order>({
  name: 'order-status',
  type,
  element: (order, context) =>
    element('order-status', { order: order.id }, [
      element('status', {}, order.status),
      element('modified-at', {}, instant(order.modifiedAt)),
      ...detailElements(order),
      ...order.items.filter(hasDetails).map((item) => element('item', { line: String(item.line) }, detailElements(item))),
      ...statusLinks(order, context).map(linkElement)
    ]),
  html: (order, context) => {
    const isSeller = hasScope(context.caller, 'fulfilment')
    const next = settableStatuses(context.caller, order)
    const form = mayShip(context.caller, order) ? shipForm(order) : undefined
    const typed = new Map(context.notice?.kind === 'problem' ? context.typed : [])
    const data = {
      order,
      notice: context.notice,
      steps: progressSteps(order.status),
      // The form of a shipment ships the order.
      forward: next.filter((status) => isActive(status) && !(form && status === 'shipped')),
      final: next.filter((status) => !isActive(status)),
      refused: typed.get('status'),
      fields: isSeller ? sellerFields(order, typed) : [],
      shipForm: form
    }
    return renderPage('order-status', ['Status of order ', orderName(order)], data, context)
  },
  isDated: true,
  validators: orderValidators,
  schema: 'order-status'
})
