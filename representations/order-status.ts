import { hasScope, mayShip, settableStatuses } from '../domain/caller.ts'
import { isActive, type Order, type OrderStatus, type SellerDetails } from '../domain/order.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { orderStatusXsd } from '../schemas/order-status.ts'
import { childType, rootType } from '../schemas/vocabulary.ts'
import { linkElement, uris } from './links.ts'
import { orderLinks, orderName, orderValidators } from './order.ts'
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

const noteOf = (values: Values) => fieldOf(childType(type, 'note'), 'note', values, noErrors)

/**
 * The fields of the seller's forms. The forms that end the order ask for the reason, which is its note. A form that was refused has what
 * was typed in it, and the others have what is stored.
 */
function sellerForms({ expectedDeliveryDate = '', sellerNote = '' }: SellerDetails, next: readonly OrderStatus[], typed: Values) {
  const stored: Values = new Map([
    ['expected-delivery-date', expectedDeliveryDate],
    ['note', sellerNote]
  ])
  const refused = typed.get('status')
  const endings = next.filter((status) => !isActive(status))
  const valuesOf = (isRefused: boolean) => (isRefused ? typed : stored)
  const details = valuesOf(refused !== undefined && !endings.some((status) => status === refused))
  return {
    refused,
    fields: [fieldOf(childType(type, 'expected-delivery-date'), 'expected-delivery-date', details, noErrors), noteOf(details)],
    reasons: Object.fromEntries(endings.map((status) => [status, noteOf(valuesOf(status === refused))]))
  }
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
    const typed = new Map(context.notice?.kind === 'problem' ? context.typed : [])
    const data = {
      order,
      notice: context.notice,
      next,
      ...(isSeller ? sellerForms(order, next, typed) : { fields: [] }),
      shipForm: mayShip(context.caller, order) ? shipForm(order) : undefined
    }
    return renderPage('order-status', `Status of order ${orderName(order)}`, data, context)
  },
  isDated: true,
  validators: orderValidators,
  schema: 'order-status'
})
