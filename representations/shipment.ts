import { mayShip } from '../domain/caller.ts'
import { isDeferred } from '../domain/deferred.ts'
import { compare, plain, zero } from '../domain/money.ts'
import { isActive, type Order, type OrderHead, type OrderItem } from '../domain/order.ts'
import { leftOf, type Shipment, type ShipmentItem, type ShipmentSummary } from '../domain/shipping.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { shipmentXsd } from '../schemas/shipment.ts'
import { childType, rootType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import { orderName, orderValidators } from './order.ts'
import { type Context, instant, makeRepresentations, type OrderOfShipment, versionText } from './representation.ts'
import { type Field, fieldOf, placeErrors, type Values } from './views/fields.ts'
import { renderPage } from './views.ts'

/** A page of the shipments of an order. */
export interface ShipmentPage {
  readonly version: number
  readonly order: OrderHead
  /** The order with its lines, where the page may show the form that ships them. A large order is not parsed for it. */
  readonly whole?: Order
  readonly shipments: readonly ShipmentSummary[]
  readonly links: readonly Link[]
  /** Tells this page from the others. */
  readonly position: string
  /** The refused form: the typed values and the faults. */
  readonly typed?: Values
  readonly faults?: readonly LocatedFault[]
}

const type = rootType(shipmentXsd, 'shipment')

interface ShipFormLine extends Pick<OrderItem, 'line' | 'productId' | 'name' | 'unit' | 'lineId' | 'notes'> {
  readonly field: Field
  readonly left: string
}

/** The form that ships what is left of an order. */
export interface ShipForm {
  /** The number that its shipment gets. Undefined for a large order, which is not parsed. */
  readonly number: number | undefined
  /** A field for the quantity of each line. A form without lines ships all that is left. */
  readonly lines: readonly ShipFormLine[]
  readonly fields: readonly Field[]
  /** The errors of a refused form in the order of the page, each with the name of its field and the number of its line, if it has them. */
  readonly listed: readonly { readonly detail: string; readonly field?: string; readonly line?: number }[]
}

/** The most lines that the form lists. An order with more lines left can be shipped in parts only by XML or JSON. */
const mostLinesOfForm = 100

const quantityType = childType(childType(type, 'item'), 'quantity')

/** Makes the form. A large order is not parsed, so its form has no lines and ships all that is left. */
export function shipForm(order: Order, typed?: Values, faults: readonly LocatedFault[] = []): ShipForm {
  const items = isDeferred(order) ? [] : order.items.filter((item) => compare(leftOf(item), zero) > 0)
  const shown = items.length > mostLinesOfForm ? [] : items
  const nameOf = (line: number) => `item.${line}.quantity`
  const values = typed ?? new Map(shown.map((item) => [nameOf(item.line), plain(leftOf(item))]))
  const names = ['carrier', 'tracking-number', 'tracking-uri']
  const lineOf = new Map(shown.map(({ line }) => [nameOf(line), line]))
  const all = [...lineOf.keys(), ...names]
  const errors = placeErrors(faults, (path) => all.find((name) => name === path || name === `${path}.quantity`))
  const place = ({ field = '' }: { readonly field?: string }) => all.indexOf(field)
  return {
    number: isDeferred(order) ? undefined : (order.shipmentCount ?? 0) + 1,
    lines: shown.map((item) => ({
      ...item,
      field: fieldOf(quantityType, nameOf(item.line), values, errors),
      left: plain(leftOf(item))
    })),
    fields: names.map((name) => fieldOf(childType(type, name), name, values, errors)),
    listed: errors.all.toSorted((a, b) => place(a) - place(b)).map((error) => withLine(error, lineOf.get(error.field ?? '')))
  }
}

/** The number of the shipment that a form has made, by the idempotency key of the form. */
export function numberOfForm(key = ''): number | undefined {
  const number = /^([1-9]\d*) /.exec(key)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** Adds the line to an error that does not name it. */
function withLine<T extends { readonly detail: string }>(error: T, line: number | undefined): T & { readonly line?: number } {
  return line === undefined || /\bline \d/i.test(error.detail) ? error : { ...error, line }
}

function itemElement({ line, productId, name, unit, quantity }: ShipmentItem, { base }: Context): Element {
  return element('item', { line: String(line) }, [
    element('product-id', { href: uris(base).product(productId) }, productId),
    element('name', {}, name),
    element('quantity', { unit }, quantity)
  ])
}

function shipmentElement(shipment: ShipmentSummary, context: Context, links: readonly Link[], inList: boolean): Element {
  const { orderId, number, itemCount, items = [] } = shipment
  return element('shipment', { order: orderId, number: String(number) }, [
    element('shipped-at', {}, instant(shipment.shippedAt)),
    textElement('carrier', shipment.carrier),
    textElement('tracking-number', shipment.trackingNumber),
    textElement('tracking-uri', shipment.trackingUri),
    inList ? element('item-count', {}, String(itemCount)) : undefined,
    ...items.map((item) => itemElement(item, context)),
    ...links.map(linkElement)
  ])
}

/** The party that a shipment goes to: the order's ship-to, or else its buyer. */
function receiverOf({ shipTo, buyer }: OrderOfShipment) {
  const given = [
    { title: 'Ship to', party: shipTo },
    { title: 'Buyer', party: buyer }
  ]
  return given.find(({ party }) => party && Object.keys(party).length > 0)
}

/** The lines that the page of a shipment shows. */
const linesShown = 200

export const shipmentRepresentations = makeRepresentations<Shipment>({
  name: 'shipment',
  type,
  element: (shipment, context) => {
    const uri = uris(context.base)
    const links = [
      { rel: 'self', href: uri.shipment(shipment.orderId, shipment.number) },
      { rel: 'order', href: uri.order(shipment.orderId) },
      { rel: 'collection', href: uri.shipments(shipment.orderId) }
    ]
    return shipmentElement(shipment, context, links, false)
  },
  html: (shipment, context) => {
    const { order } = context
    const title = [`Shipment ${shipment.number} of order `, orderName(order ?? { id: shipment.orderId })]
    return renderPage(
      'shipment',
      title,
      { shipment, order, to: order && receiverOf(order), lines: shipment.items.slice(0, linesShown) },
      context
    )
  },
  // A shipment never changes, but its page also shows the order's number and address.
  validators: ({ number, shippedAt }, { order }) => ({
    version: `${number}.${shippedAt.toString(36)}`,
    ...(order ? { page: versionText(order.version, order.modifiedAt) } : {})
  }),
  schema: 'shipment'
})

export const shipmentsRepresentations = makeRepresentations<ShipmentPage>({
  type: rootType(shipmentXsd, 'shipments'),
  element: ({ order, shipments, links }, context) => {
    const self = (number: number) => [{ rel: 'self', href: uris(context.base).shipment(order.id, number) }]
    return element('shipments', { order: order.id }, [
      ...shipments.map((shipment) => shipmentElement(shipment, context, self(shipment.number), true)),
      ...links.map(linkElement)
    ])
  },
  html: ({ order, whole, shipments, links, typed, faults }, context) => {
    const form = whole && mayShip(context.caller, whole) ? shipForm(whole, typed, faults) : undefined
    const notice = context.notice && { ...context.notice, errors: form?.listed ?? [] }
    const data = { order, mayBeShipped: isActive(order.status), shipments, links, notice, shipForm: form }
    return renderPage('shipments', ['Shipments of order ', orderName(order)], data, context)
  },
  isDated: true,
  validators: ({ order, position }, context) => {
    const { version, ...rest } = orderValidators(order, context)
    return { ...rest, version: `${version}${position}` }
  },
  links: ({ links }) => links,
  schema: 'shipments'
})
