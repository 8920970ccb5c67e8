/** Decides what is shipped of an order. A store calls these functions on rows that it has locked. */

import { isDeferred } from './deferred.ts'
import { DomainError, type Fault } from './errors.ts'
import { type NewEvent, orderEvents } from './event.ts'
import { makeLineTotals, totalOf } from './line-totals.ts'
import { add, compare, type Decimal, minorUnit, multiply, plain, subtract, zero } from './money.ts'
import { canBecome, isActive, type Order, type OrderItem, type OrderStatus } from './order.ts'
import { checkPrecondition, type Precondition } from './preconditions.ts'
import { isShippablePart } from './quantities.ts'
import { revised } from './revised.ts'
import { unitNameOf, unitsNamed } from './unit-names.ts'

/** The number of a line in a document. A number that JavaScript would round stays text, so that the refusal can quote it. */
export type NamedLine = number | string

/** One line of a shipment as the seller sends it. */
export interface ShipmentDraftItem {
  readonly line: NamedLine
  readonly quantity: Decimal
  readonly unit?: string
}

export interface ShipmentDraft {
  /** Milliseconds since the epoch. Absent: now. */
  readonly shippedAt?: number
  readonly carrier?: string
  readonly trackingNumber?: string
  /** https or http. */
  readonly trackingUri?: string
  /** Absent: all that is left of the order. */
  readonly items?: readonly ShipmentDraftItem[]
}

/** One line of a shipment. It is a snapshot, because the lines of the order may get other numbers. */
export interface ShipmentItem extends Pick<OrderItem, 'line' | 'productId' | 'name' | 'unit' | 'quantity'> {}

/** A shipment without its lines. */
export interface ShipmentSummary extends Pick<ShipmentDraft, 'carrier' | 'trackingNumber' | 'trackingUri'> {
  readonly orderId: string
  /** Its position among the shipments of the order, from 1. */
  readonly number: number
  /** Milliseconds since the epoch. */
  readonly shippedAt: number
  readonly itemCount: number
  /** Present in lists, for a shipment of `mostSummarised` lines or fewer. */
  readonly items?: readonly ShipmentItem[]
}

/** A shipment never changes. */
export interface Shipment extends ShipmentSummary {
  readonly items: readonly ShipmentItem[]
}

interface ShippedOrder {
  /** The order after the shipment. */
  readonly order: Order
  readonly shipment: Shipment
}

export interface ShipmentDecision extends ShippedOrder {
  readonly events: readonly NewEvent[]
}

/** The most shipments of one order. The last one must be of all that is left. */
export const mostShipments = 1000

/** Reads the number of a shipment. Undefined: no shipment can have it. */
export function shipmentNumber(text: string): number | undefined {
  const number = Number(text)
  return /^[1-9][0-9]*$/.test(text) && number <= mostShipments ? number : undefined
}

/** Refuses a shipment without lines, which would otherwise ship all that is left. @throws DomainError `invalid-shipment` */
export function requireLines(draft: ShipmentDraft): void {
  // A large document has lines, and is not parsed to find that out.
  if (isDeferred(draft) || draft.items) return
  throw new DomainError('invalid-shipment', 'Enter a quantity for at least one line. Nothing was stored.')
}

/** The quantity of a line that was not shipped yet. */
export function leftOf({ quantity, shippedQuantity }: Pick<OrderItem, 'quantity' | 'shippedQuantity'>): Decimal {
  return shippedQuantity === undefined ? quantity : plain(subtract(quantity, shippedQuantity))
}

const isShipped = (item: OrderItem) => compare(leftOf(item), zero) <= 0

/** Whether an order with this status may have shipments. */
export function mayHaveShipments(status: OrderStatus): boolean {
  return isActive(status) && status !== 'received'
}

/** Whether nothing of the order is left to ship. */
export function isAllShipped({ items }: Pick<Order, 'items'>): boolean {
  return items.every(isShipped)
}

/**
 * Decides a shipment. When nothing is left, the order is `shipped`.
 * @throws DomainError `precondition-failed`; `transition-refused` unless the order is accepted; `invalid-shipment` when the
 *   document does not fit the order; `shipment-refused` when less is left of a line
 */
export function decideShipment(before: Order, draft: ShipmentDraft, expected: Precondition, { now }: { now: number }): ShipmentDecision {
  checkPrecondition(expected, before.version)
  if (!canBecome(before.status, 'shipped')) {
    throw new DomainError('transition-refused', `The order is ${before.status}: only an accepted order can be shipped.`)
  }
  const shipped = ship(before, draft, now)
  return { ...shipped, events: orderEvents('shipped', before, shipped.order) }
}

/** Ships lines of an accepted order. */
export function ship(before: Order, draft: ShipmentDraft, now: number): ShippedOrder {
  const shipped = draft.items
    ? quantitiesOf(draft.items, before)
    : new Map<NamedLine, Decimal>(before.items.map((item) => [item.line, leftOf(item)]))
  const shipmentItems: ShipmentItem[] = []
  const items = before.items.map((item) => {
    const quantity = shipped.get(item.line)
    if (quantity === undefined || compare(quantity, zero) <= 0) return item
    const { line, productId, name, unit } = item
    shipmentItems.push({ line, productId, name, unit, quantity })
    return { ...item, shippedQuantity: plain(add(item.shippedQuantity ?? zero, quantity)) }
  })
  const number = (before.shipmentCount ?? 0) + 1
  const isAll = isAllShipped({ items })
  if (number >= mostShipments && !isAll) {
    const detail = `An order has ${mostShipments} shipments at most, and this is the last: ship all that is left.`
    throw new DomainError('shipment-refused', detail, { faults: [{ code: 'too-many-shipments', detail }] })
  }
  const { items: _items, shippedAt = now, ...details } = draft
  const shipment = { orderId: before.id, number, shippedAt, ...details, itemCount: shipmentItems.length, items: shipmentItems }
  const status = isAll ? ('shipped' as const) : before.status
  return { order: { ...before, ...revised(before, now), status, items, shipmentCount: number }, shipment }
}

/** The quantity that is shipped of each line, by its number. @throws DomainError `invalid-shipment`, `shipment-refused` */
function quantitiesOf(wanted: readonly ShipmentDraftItem[], { items }: Order): ReadonlyMap<NamedLine, Decimal> {
  const lines = new Map<NamedLine, OrderItem>(items.map((item) => [item.line, item]))
  const quantities = new Map<NamedLine, Decimal>()
  const [invalid, refused]: [Fault[], Fault[]] = [[], []]
  for (const [i, item] of wanted.entries()) {
    const line = lines.get(item.line)
    const fault = unusable(item, line, quantities.has(item.line), i + 1)
    if (fault) invalid.push(fault)
    else if (line && compare(item.quantity, leftOf(line)) > 0) refused.push(tooMuch(item, line, i + 1))
    quantities.set(item.line, item.quantity)
  }
  const faults = [...invalid, ...refused].toSorted((a, b) => Number(a.at?.[1]) - Number(b.at?.[1]))
  if (invalid.length > 0) {
    throw new DomainError('invalid-shipment', 'The shipment does not fit the order. Nothing was stored.', { faults })
  }
  if (refused.length > 0) {
    throw new DomainError('shipment-refused', 'The shipment has more than is left of the order. Nothing was stored.', { faults })
  }
  return quantities
}

/** The fault of a line that can never be shipped as it is sent. */
function unusable(
  { line, quantity, unit }: ShipmentDraftItem,
  found: OrderItem | undefined,
  isRepeated: boolean,
  position: number
): Fault | undefined {
  if (!found) return unknownLine(line, position)
  if (isRepeated) return repeatedLine(line, position)
  if (!isShippablePart(quantity, found)) {
    const detail = `Line ${line} is counted in whole ${unitsNamed(found.unit)}: ${plain(quantity)} of it cannot be shipped.`
    return { code: 'quantity-step', at: ['item', position, 'quantity'], detail }
  }
  if (unit === undefined || unit === found.unit) return undefined
  const detail = `Line ${line} was ordered by the unit ${found.unit}, not ${unit}.`
  return { code: 'wrong-unit', at: ['item', position, 'quantity', 'unit'], detail }
}

export function repeatedLine(line: NamedLine, position: number): Fault {
  return { code: 'repeated-line', at: ['item', position], detail: `Line ${line} is given twice. Send one item for it.` }
}

export function unknownLine(line: NamedLine, position: number): Fault {
  return {
    code: 'line-unknown',
    at: ['item', position],
    detail: `The order has no line ${line}. Its lines may have other numbers now: read it again.`
  }
}

function tooMuch({ line, quantity }: ShipmentDraftItem, found: OrderItem, position: number): Fault {
  const left = leftOf(found)
  const counted = (amount: Decimal) => `${plain(amount)} ${unitNameOf(found.unit, plain(amount))}`
  const rest =
    compare(left, zero) > 0
      ? `only ${counted(left)} left to ship, not ${plain(quantity)}`
      : `nothing left to ship: all ${counted(found.quantity)} were shipped`
  const detail = `Line ${line} (${found.productId}) has ${rest}.`
  return { code: 'not-left', at: ['item', position, 'quantity'], detail }
}

/**
 * The order that remains when the rest is cancelled: its shipped quantities. Lines of which nothing was shipped are removed. The
 * others keep their numbers, which the shipments name. The totals are computed again.
 */
export function cutToShipped(order: Order): Pick<Order, 'items' | 'total'> {
  const digits = minorUnit(order.currency)
  const totals = makeLineTotals(digits)
  const items = order.items.flatMap((item): OrderItem[] => {
    const { shippedQuantity } = item
    if (shippedQuantity === undefined) return []
    return [{ ...item, quantity: shippedQuantity, lineTotal: totals(item.productId, multiply(shippedQuantity, item.unitPrice)) }]
  })
  return { items, total: totalOf(items, digits) }
}
