import { hasScope, mayChange } from '../domain/caller.ts'
import { type Address, isOpen, nextStatuses, type Order, type OrderHeader, type OrderStatus, type Party } from '../domain/order.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import type { ElementType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import { type Context, instant, pageOf, represent, type Validators } from './representation.ts'
import { valuesOf } from './views/fields.ts'
import { type OrderForm, renderOrderForm } from './views/order-form.ts'
import { type Notice, renderPage } from './views.ts'

/** What the seller's links to the next status are called. */
const statusRelations: Readonly<Record<OrderStatus, string>> = {
  received: 'receive',
  accepted: 'accept',
  rejected: 'reject',
  shipped: 'ship',
  completed: 'complete',
  cancelled: 'cancel'
}

/** What this caller may do with the order, and where its parts are. */
export function orderLinks(order: Order, { base, caller }: Pick<Context, 'base' | 'caller'>): readonly Link[] {
  const uri = uris(base)
  const self = uri.order(order.id)
  const status = uri.orderStatus(order.id)
  const changes = mayChange(caller, order)
  const next = hasScope(caller, 'fulfilment') ? nextStatuses(order.status).filter((status) => status !== 'cancelled') : []
  return [
    { rel: 'self', href: self },
    { rel: 'status', href: status },
    { rel: 'collection', href: uri.orders },
    ...(changes && isOpen(order.status) ? [{ rel: 'edit', href: self, method: 'PUT' }] : []),
    ...(changes && nextStatuses(order.status).includes('cancelled') ? [{ rel: 'cancel', href: self, method: 'DELETE' }] : []),
    ...next.map((status_) => ({ rel: statusRelations[status_], href: status, method: 'PUT' }))
  ]
}

/** Two callers who may do different things see different representations of one version, so their tags differ. */
export function orderValidators(order: Order, { caller }: Pick<Context, 'caller'>): Validators {
  const may = `${mayChange(caller, order) ? 'b' : ''}${hasScope(caller, 'fulfilment') ? 's' : ''}`
  return { version: `${order.version}.${order.modifiedAt.toString(36)}.${may}`, modifiedAt: order.modifiedAt, ...pageOf(caller) }
}

function addressElement(address: Address | undefined): Element | undefined {
  if (!address) return undefined
  return element('address', {}, [
    textElement('street', address.street),
    textElement('additional-street', address.additionalStreet),
    textElement('city', address.city),
    textElement('postal-code', address.postalCode),
    textElement('region', address.region),
    textElement('country', address.country)
  ])
}

function partyElement(name: string, party: Party | undefined): Element | undefined {
  if (!party) return undefined
  return element(name, {}, [
    textElement('name', party.name),
    textElement('email', party.email),
    textElement('phone', party.phone),
    textElement('tax-id', party.taxId),
    addressElement(party.address)
  ])
}

function headerElements(order: OrderHeader): (Element | undefined)[] {
  return [
    textElement('order-number', order.orderNumber),
    textElement('issue-date', order.issueDate),
    textElement('currency', order.currency),
    partyElement('buyer', order.buyer),
    partyElement('ship-to', order.shipTo),
    partyElement('bill-to', order.billTo),
    textElement('requested-delivery-date', order.requestedDeliveryDate),
    ...order.notes.map((note) => element('note', {}, note)),
    ...order.extensions.map(({ name, value }) => element('extension', { name }, value))
  ]
}

export function orderElement(order: Order, context: Pick<Context, 'base' | 'caller'>): Element {
  const uri = uris(context.base)
  return element('order', { id: order.id, version: String(order.version) }, [
    element('status', {}, order.status),
    element('placed-at', {}, instant(order.placedAt)),
    element('modified-at', {}, instant(order.modifiedAt)),
    textElement('customer', order.customer),
    ...headerElements(order),
    ...order.items.map((item) =>
      element('item', { line: String(item.line) }, [
        element('product-id', { href: uri.product(item.productId) }, item.productId),
        element('name', {}, item.name),
        element('quantity', { unit: item.unit }, item.quantity),
        element('unit-price', {}, item.unitPrice),
        element('line-total', {}, item.lineTotal),
        ...item.notes.map((note) => element('note', {}, note))
      ])
    ),
    element('total', { currency: order.currency }, order.total),
    ...orderLinks(order, context).map(linkElement)
  ])
}

function orderRoot(name: string): ElementType {
  const type = orderXsd.vocabulary.get(name)
  if (!type) throw new Error(`purchase-order.xsd declares no ${name}`)
  return type
}

/** How people know it: by the buyer's number, or by the start of its id. */
export function orderTitle(order: Pick<Order, 'id' | 'orderNumber'>): string {
  return `Order ${order.orderNumber ?? order.id.slice(0, 8)}`
}

/** An order, and what its page needs besides: the entity tag that its forms send back, and what to say at its top. */
export interface ShownOrder extends Order {
  readonly tag?: string | undefined
  readonly notice?: Notice
}

/** What the form that changes an order starts with, by field name. */
export function orderValues(order: Order, context: Pick<Context, 'base' | 'caller'>): Map<string, string> {
  const values = valuesOf(orderElement(order, context), orderRoot('purchase-order'))
  // A line that a person changes is priced by the rules, and measured in its product's unit.
  for (const name of values.keys()) if (/^item\.\d+\.(?:unit-price|quantity\.unit)$/.test(name)) values.delete(name)
  return values
}

export const orderRepresentations = represent<ShownOrder>({
  type: orderRoot('order'),
  element: orderElement,
  html: (order, context) =>
    renderPage('order', orderTitle(order), { order, notice: order.notice, links: orderLinks(order, context) }, context),
  validators: orderValidators,
  schema: 'order'
})

export const newOrderTitle = 'Place an order'

/** The blank order: for a machine a document to fill in, for a person a form. */
export interface BlankOrder {
  readonly currency: string
  /** The products that the form starts with. */
  readonly productIds: readonly string[]
  /** What the form of a person holds besides. */
  readonly form?: Pick<OrderForm, 'idempotencyKey' | 'products' | 'guestsMayOrder'>
}

export const blankOrderRepresentations = represent<BlankOrder>({
  type: orderRoot('purchase-order'),
  element: ({ productIds }) =>
    element(
      'purchase-order',
      {},
      (productIds.length > 0 ? productIds : ['']).map((id) =>
        element('item', {}, [element('product-id', {}, id), element('quantity', {}, '')])
      )
    ),
  html: ({ productIds, form }, context) =>
    renderOrderForm(
      {
        title: newOrderTitle,
        action: uris(context.base).placeOrder,
        products: [],
        guestsMayOrder: true,
        values: new Map(productIds.map((id, i) => [`item.${i + 1}.product-id`, id])),
        ...form
      },
      context
    ),
  schema: 'purchase-order'
})
