import { hasScope, mayCancel, mayChange, mayEdit, mayShip, settableStatuses } from '../domain/caller.ts'
import { defined } from '../domain/defined.ts'
import { acceptedItems, type LineAnswer } from '../domain/line-answers.ts'
import { plain } from '../domain/money.ts'
import {
  type Address,
  canBecome,
  type Extension,
  isActive,
  type Order,
  type OrderHead,
  type OrderHeader,
  type OrderStatus,
  orderStatuses,
  type Party,
  type SellerDetails
} from '../domain/order.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import { type Context, instant, makeRepresentations, pageOf, type Validators, versionText } from './representation.ts'
import { valuesOf } from './views/fields.ts'
import { type OrderForm, renderOrderForm } from './views/order-form.ts'
import { fitsForm } from './views/order-form-lines.ts'
import { noProducts } from './views/order-form-products.ts'
import { renderPage } from './views.ts'

/** The relations of the seller's links that set a status. */
const statusRelations: Readonly<Record<OrderStatus, string>> = {
  received: 'receive',
  accepted: 'accept',
  rejected: 'reject',
  shipped: 'ship',
  completed: 'complete',
  cancelled: 'cancel'
}

/** Links to the order's related resources and to the changes that this caller may make. */
export function orderLinks(order: Order, { base, caller }: Pick<Context, 'base' | 'caller'>): readonly Link[] {
  const uri = uris(base)
  const self = uri.order(order.id)
  const status = uri.orderStatus(order.id)
  const isCancellable = mayCancel(caller, order)
  // Whoever may cancel the order as its customer does so with DELETE.
  const next = settableStatuses(caller, order).filter((status) => status !== 'cancelled' || !isCancellable)
  const hasShipments = mayShip(caller, order) || order.shipmentCount !== undefined
  return [
    { rel: 'self', href: self },
    { rel: 'status', href: status },
    { rel: 'collection', href: uri.orders },
    ...(hasShipments ? [{ rel: 'shipments', href: uri.shipments(order.id) }] : []),
    ...(mayEdit(caller, order) ? [{ rel: 'edit', href: self, method: 'PUT' }] : []),
    ...(isCancellable ? [{ rel: 'cancel', href: self, method: 'DELETE' }] : []),
    ...next.map((nextStatus) => ({ rel: statusRelations[nextStatus], href: status, method: 'PUT' }))
  ]
}

/** Links to the document that the order came from, and to its present answer. */
function documentLinks({ id, hasDocument }: Order, base: string): readonly Link[] {
  const uri = uris(base)
  if (!hasDocument) return []
  return [
    { rel: 'original', href: uri.orderDocument(id) },
    { rel: 'response', href: uri.orderResponse(id) }
  ]
}

/** Callers with different rights see different links, so their entity tags differ for the same version. */
export function orderValidators(order: OrderHead, { caller }: Pick<Context, 'caller'>): Validators {
  const rights = `${mayChange(caller, order) ? 'b' : ''}${hasScope(caller, 'fulfilment') ? 's' : ''}`
  return { version: `${versionText(order.version, order.modifiedAt)}.${rights}`, modifiedAt: order.modifiedAt, ...pageOf(caller) }
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
    textElement('contact', party.contact),
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
    ...extensionElements(order)
  ]
}

function answerElements({ lineStatus, orderedQuantity, reason }: LineAnswer): (Element | undefined)[] {
  return [textElement('line-status', lineStatus), textElement('ordered-quantity', orderedQuantity), textElement('reason', reason)]
}

function extensionElements({ extensions = [] }: { readonly extensions?: readonly Extension[] }): Element[] {
  return extensions.map(({ name, value }) => element('extension', { name }, value))
}

function sellerElements({ expectedDeliveryDate, sellerNote }: SellerDetails): (Element | undefined)[] {
  return [textElement('expected-delivery-date', expectedDeliveryDate), textElement('seller-note', sellerNote)]
}

export function orderElement(order: Order, context: Pick<Context, 'base' | 'caller'>): Element {
  const uri = uris(context.base)
  return element('order', { id: order.id, version: String(order.version) }, [
    element('status', {}, order.status),
    element('placed-at', {}, instant(order.placedAt)),
    element('modified-at', {}, instant(order.modifiedAt)),
    textElement('customer', order.customer),
    ...sellerElements(order),
    ...headerElements(order),
    ...order.items.map((item) =>
      element('item', { line: String(item.line) }, [
        textElement('line-id', item.lineId),
        element('product-id', { href: uri.product(item.productId) }, item.productId),
        element('name', {}, item.name),
        element('quantity', { unit: item.unit }, item.quantity),
        element('unit-price', {}, item.unitPrice),
        element('line-total', {}, item.lineTotal),
        ...answerElements(item),
        textElement('shipped-quantity', item.shippedQuantity),
        ...sellerElements(item),
        textElement('requested-delivery-date', item.requestedDeliveryDate),
        ...item.notes.map((note) => element('note', {}, note)),
        ...extensionElements(item)
      ])
    ),
    element('total', { currency: order.currency }, order.total),
    ...[...orderLinks(order, context), ...documentLinks(order, context.base)].map(linkElement)
  ])
}

/** The words for an order of which only a part was shipped, because its status does not show that. */
export function partlyShipped({
  status,
  shipmentCount,
  isRestCancelled
}: Pick<Order, 'status' | 'shipmentCount' | 'isRestCancelled'>): string | undefined {
  if (isRestCancelled) return 'The rest was cancelled'
  return canBecome(status, 'shipped') && shipmentCount !== undefined ? 'Shipped in part' : undefined
}

/** The statuses that an order has one after the other. One that has ended early shows how it began, and its end. */
export function progressSteps(status: OrderStatus): readonly OrderStatus[] {
  return isActive(status) ? orderStatuses.filter(isActive) : [orderStatuses[0], status]
}

/** The order's name for people: the buyer's number, or else the start of its id. */
export function orderName(order: Pick<Order, 'id' | 'orderNumber'>): string {
  return order.orderNumber ?? order.id.slice(0, 8)
}

/** The initial values of the form that changes an order, by field name. */
export function orderValues(order: Order, context: Pick<Context, 'base' | 'caller'>): Map<string, string> {
  const values = valuesOf(orderElement({ ...order, items: acceptedItems(order.items) }, context), rootType(orderXsd, 'purchase-order'))
  // The form does not send unit prices and units: the shop sets the price of a changed line, in the product's unit.
  for (const name of values.keys()) if (/^item\.\d+\.(?:unit-price|quantity\.unit)$/.test(name)) values.delete(name)
  return values
}

export const orderRepresentations = makeRepresentations<Order>({
  name: 'order',
  type: rootType(orderXsd, 'order'),
  element: orderElement,
  html: (order, context) => {
    const { notice, self, shipments = [] } = context
    const links = orderLinks(order, context)
    const isBuyer = mayChange(context.caller, order)
    const data = {
      order,
      isBuyer,
      ...linesOfPage(order, self),
      hasForm: fitsForm(order),
      notice,
      shipments,
      links,
      steps: progressSteps(order.status),
      partly: partlyShipped(order)
    }
    return renderPage('order', ['Order ', orderName(order)], data, context)
  },
  isDated: true,
  validators: orderPageValidators,
  links: (order, { base }) => documentLinks(order, base),
  schema: 'order'
})

/** Lines on one page of an order. */
export const linesPerPage = 200

/** The number of the page that a URI asks for, from 1. The route refuses what is not a number. */
function pageNumber(self: string): number {
  const query = self.indexOf('?')
  const page = query === -1 ? null : new URLSearchParams(self.slice(query)).get('page')
  return page === null ? 1 : Math.max(1, Math.trunc(Number(page)) || 1)
}

/** The lines of one page. A number after the last page gives the last page. */
export function linesOfPage({ items }: Order, self: string) {
  const pages = Math.max(1, Math.ceil(items.length / linesPerPage))
  const page = Math.min(pageNumber(self), pages)
  const from = (page - 1) * linesPerPage
  return { lines: items.slice(from, from + linesPerPage), page, pages }
}

/** Each page of the lines is a separate representation, with its own entity tag. */
export function orderPageValidators(order: OrderHead, context: Pick<Context, 'caller' | 'self'>): Validators {
  const validators = orderValidators(order, context)
  const page = pageNumber(context.self)
  return page === 1 ? validators : { ...validators, page: `${validators.page ?? ''}p${page}` }
}

export const newOrderTitle = 'Place an order'

/** A blank order: a document to fill in for machines, a form for people. */
export interface BlankOrder {
  /** The products in its first lines. */
  readonly productIds: readonly string[]
  /** Their quantities, as far as they are known. */
  readonly quantities?: readonly string[]
  /** The other initial values of the form. */
  readonly form?: Pick<OrderForm, 'idempotencyKey' | 'products' | 'guestsMayOrder'>
}

/** The fields of a blank order's first lines. */
export function blankValues({ productIds, quantities = [] }: BlankOrder): Map<string, string> {
  return new Map(
    productIds.flatMap((id, i) => [
      [`item.${i + 1}.product-id`, id],
      [`item.${i + 1}.quantity`, quantities[i] ?? '']
    ])
  )
}

/** The initial values of the form that orders the same again. The number, the dates and the notes are those of the old order only. */
export function againValues({ items, buyer, shipTo, billTo }: Order): Map<string, string> {
  const accepted = acceptedItems(items)
  const quantities = accepted.map(({ quantity }) => plain(quantity))
  const parties = headerElements({ ...defined({ buyer, shipTo, billTo }), notes: [], extensions: [] })
  return new Map([
    ...blankValues({ productIds: accepted.map(({ productId }) => productId), quantities }),
    ...valuesOf(element('purchase-order', {}, parties), rootType(orderXsd, 'purchase-order'))
  ])
}

export const blankOrderRepresentations = makeRepresentations<BlankOrder>({
  type: rootType(orderXsd, 'purchase-order'),
  element: ({ productIds, quantities = [] }) =>
    element(
      'purchase-order',
      {},
      (productIds.length > 0 ? productIds : ['']).map((id, i) =>
        element('item', {}, [element('product-id', {}, id), element('quantity', {}, quantities[i] ?? '')])
      )
    ),
  html: ({ form, ...lines }, context) =>
    renderOrderForm(
      {
        title: newOrderTitle,
        action: uris(context.base).placeOrder,
        products: noProducts,
        guestsMayOrder: true,
        values: blankValues(lines),
        ...form
      },
      context
    ),
  schema: 'purchase-order'
})
