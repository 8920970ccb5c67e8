/** These functions decide how a write changes an order and what it takes from stock. Every store calls them on rows that it has locked. */

import { DomainError } from './errors.ts'
import type { Inventory } from './inventory.ts'
import { decideLeniently } from './lenient.ts'
import { asOrdered, itemsHad } from './line-answers.ts'
import { holdsStock, isOpen, nextStatuses, type Order, type OrderHeader, type OrderStatus, type PurchaseOrder } from './order.ts'
import { type Decision, decide, givenBack, matchesOrder, numberTaken } from './placing.ts'
import { checkPrecondition } from './preconditions.ts'
import type { Placing, PlacingAnswer, Precondition } from './store.ts'

/** The shop as the transaction of a write sees it. */
export interface Shop {
  /** ISO 4217. */
  readonly currency: string
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly inventory: Inventory
  /** The order of a customer that has a number. A cancelled or rejected order has given its number up. */
  orderNumbered(customer: string, orderNumber: string): Order | undefined
  /** The order of a customer that had a document, whatever became of it since. @param digest as `OrderDocument.digest` */
  orderOfDocument(customer: string, digest: string): Pick<Order, 'id' | 'status'> | undefined
}

/** The quantities that a write takes from stock, by product id; negative where stock goes back. */
type Taking = Pick<Decision, 'taken'>

/**
 * Decides a new order, or finds the one that it repeats: only an order that is `placed` is new.
 * @param id of a new order
 * @throws DomainError `invalid-order`, `order-refused`, `order-number-taken`
 */
export function decidePlacing({ order, customer, status, document, handling }: Placing, id: string, shop: Shop): PlacingAnswer & Taking {
  // A document with faults repeats no order, whatever its number: `decide` lists them.
  if (order.objections) decide(order, shop.inventory, shop.currency)
  const other = namesake(customer, order, shop)
  if (other && !repeats(order, other, shop)) throw numberTaken(other)
  if (other) return { order: other, outcome: 'repeated', taken: new Map() }
  const earlier = customer === undefined || !document ? undefined : shop.orderOfDocument(customer, document.digest)
  if (earlier) throw sentBefore(earlier)
  const decision = (handling === 'lenient' ? decideLeniently : decide)(order, shop.inventory, shop.currency)
  const placed = { ...content(order, customer, decision), id, version: 1, status, placedAt: shop.now, modifiedAt: shop.now }
  return { order: placed, outcome: 'placed', taken: decision.taken }
}

/** Whether a document says the same as an order, as it stands or as it was ordered. */
function repeats(order: PurchaseOrder, other: Order, { inventory, currency }: Shop): boolean {
  if (matchesOrder(order, other, inventory, currency)) return true
  const ordered = asOrdered(other)
  return ordered !== undefined && matchesOrder(order, ordered, inventory, currency)
}

/** Decides what `Store.changeOrder` makes of an order. @throws DomainError what it throws */
export function decideChange(
  before: Order,
  order: PurchaseOrder,
  expected: Precondition,
  mostItems: number | undefined,
  shop: Shop
): { readonly order: Order } & Taking {
  const { id, customer, status, placedAt } = before
  if (!isOpen(status)) throw new DomainError('transition-refused', `The order is ${status}: it can no longer be changed.`)
  checkPrecondition(expected, before.version)
  const other = namesake(customer, order, shop)
  if (other && other.id !== id) throw numberTaken(other)
  const decision = decide(order, shop.inventory, shop.currency, { ...before, items: itemsHad(before.items) }, mostItems)
  const kept = before.hasDocument ? { hasDocument: true as const } : {}
  const changed = { ...content(order, customer, decision), ...kept, id, status, placedAt, ...revised(before, shop) }
  return { order: changed, taken: decision.taken }
}

/**
 * Decides what `Store.setOrderStatus` changes of an order; undefined when it has the status already.
 * @throws DomainError `precondition-failed`, `transition-refused`
 */
export function decideStatus(
  before: Order,
  status: OrderStatus,
  expected: Precondition,
  shop: Pick<Shop, 'inventory' | 'now'>
): ({ readonly change: Pick<Order, 'status' | 'version' | 'modifiedAt'> } & Taking) | undefined {
  if (before.status === status) return undefined
  checkPrecondition(expected, before.version)
  if (!nextStatuses(before.status).includes(status)) throw refusedTransition(before.status, status)
  const taken = holdsStock(status) ? new Map() : givenBack(before, shop.inventory)
  return { change: { status, ...revised(before, shop) }, taken }
}

/** A buyer's system repeats a document after its order was cancelled, or has another number or content: that is no new order. */
function sentBefore({ id, status }: Pick<Order, 'id' | 'status'>): DomainError {
  const since = status === 'cancelled' || status === 'rejected' ? `is ${status}` : 'has another number since'
  const detail = `This document was sent before: it is that of the order ${id}, which ${since}. To order again, send an order with a new number.`
  return new DomainError('order-refused', detail, { faults: [{ code: 'sent-before', detail }] })
}

function revised({ version, modifiedAt }: Order, { now }: Pick<Shop, 'now'>): Pick<Order, 'version' | 'modifiedAt'> {
  return { version: version + 1, modifiedAt: Math.max(now, modifiedAt) }
}

function namesake(customer: string | undefined, { orderNumber }: PurchaseOrder, shop: Shop): Order | undefined {
  return customer === undefined || orderNumber === undefined ? undefined : shop.orderNumbered(customer, orderNumber)
}

function content(
  order: PurchaseOrder,
  customer: string | undefined,
  { currency, items, total }: Decision
): OrderHeader & Pick<Order, 'currency' | 'items' | 'total' | 'customer' | 'hasDocument'> {
  const { items: _items, objections: _objections, ...header } = order
  return { ...header, currency, items, total, ...(customer === undefined ? {} : { customer }) }
}

function refusedTransition(from: OrderStatus, to: OrderStatus): DomainError {
  const next = nextStatuses(from)
  const allowed = next.length === 0 ? 'nothing follows that' : `it can become ${next.join(' or ')}`
  return new DomainError('transition-refused', `The order is ${from} and cannot become ${to}: ${allowed}.`)
}
