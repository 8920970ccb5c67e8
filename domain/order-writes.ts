/** These functions decide how a write changes an order and what it takes from stock. Every store calls them on rows that it has locked. */

import { carryOver } from './carrying-over.ts'
import { DomainError, type Fault } from './errors.ts'
import { type NewEvent, orderEvents } from './event.ts'
import type { Inventory } from './inventory.ts'
import { asOrdered, decideLeniently } from './lenient.ts'
import { acceptedItems } from './line-answers.ts'
import {
  canBecome,
  isActive,
  isOpen,
  namedProducts,
  nextStatuses,
  type Objections,
  type Order,
  type OrderHeader,
  type OrderStatus,
  type ProductReference,
  type PurchaseOrder
} from './order.ts'
import { type Decision, decide, givenBack, matchesOrder, numberTaken } from './placing.ts'
import { checkPrecondition, type Precondition } from './preconditions.ts'
import { hasObjections, joinObjections } from './refusing.ts'
import { revised } from './revised.ts'
import { decideDetails, type StatusDetails } from './seller-details.ts'
import { cutToShipped, type Shipment, ship } from './shipping.ts'
import type { ChangeOptions, Placing, PlacingAnswer } from './store.ts'

/** The shop as the transaction of a write sees it. */
export interface Shop {
  /** ISO 4217. */
  readonly currency: string
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly inventory: Inventory
  /** The active order of a customer that has a number. A cancelled or rejected order has given its number up. */
  activeOrderNumbered(customer: string, orderNumber: string): Order | undefined
  /** The id of that order. A change needs no more, so the store need not read what may be a large order. */
  activeIdNumbered(customer: string, orderNumber: string): string | undefined
  /** The order that a document of the customer has placed or changed, in any status. @param digest as `OrderDocument.digest` */
  orderOfDocument(customer: string, digest: string): Pick<Order, 'id' | 'status'> | undefined
}

/** The consequences of a write. */
interface Effects {
  /** The quantities that it takes from stock, by product id; negative where stock goes back. */
  readonly taken: Decision['taken']
  readonly events: readonly NewEvent[]
}

/**
 * Decides a new order, or finds the one that it repeats: only an order that is `placed` is new.
 * @param id of a new order
 * @throws DomainError `invalid-order`, `order-refused`, `order-number-taken`
 */
export function decidePlacing(placing: Placing, id: string, shop: Shop): PlacingAnswer & Effects {
  const { customer, status, document, handling } = placing
  const { orderNumber } = placing.order
  const order = withObjections(placing.order, placing.objections)
  const decideContent = (wanted: PurchaseOrder) =>
    (handling === 'lenient' ? decideLeniently : decide)(wanted, shop.inventory, shop.currency)
  const other = customer === undefined || orderNumber === undefined ? undefined : shop.activeOrderNumbered(customer, orderNumber)
  const isRepeated = other !== undefined && repeats(order, other, shop)
  if (other && !isRepeated) throw combinedRefusal([numberTaken(other)], order, decideContent)
  // A document with faults repeats no order, whatever its number: `decide` lists them.
  if (order.objections) decideContent(order)
  if (other) return { order: other, outcome: 'repeated', taken: new Map(), events: [] }
  const earlier = customer === undefined || !document ? undefined : shop.orderOfDocument(customer, document.digest)
  if (earlier) throw combinedRefusal([sentBefore(earlier)], order, decideContent)
  const decision = decideContent(order)
  const placed = { ...content(order, customer, decision), id, version: 1, status, placedAt: shop.now, modifiedAt: shop.now }
  return { order: placed, outcome: 'placed', taken: decision.taken, events: orderEvents('placed', undefined, placed) }
}

/** Whether a document has the same content as an order: as the order is now, or as it was ordered. */
function repeats(order: PurchaseOrder, other: Order, { inventory, currency }: Shop): boolean {
  if (matchesOrder(order, other, inventory, currency)) return true
  const ordered = asOrdered(other)
  return ordered !== undefined && matchesOrder(order, ordered, inventory, currency)
}

/** The products whose stock `decideChange` may change, and those that it looks at. A store locks their stock first. */
export function productsOfChange({ items }: Order, document: PurchaseOrder): readonly ProductReference[] {
  return [...namedProducts(document), ...items.map(({ productId }) => ({ productId }))]
}

/** Decides the change of `Store.changeOrder`. @throws DomainError with the codes of that verb */
export function decideChange(
  before: Order,
  document: PurchaseOrder,
  expected: Precondition,
  shop: Shop,
  { objections, mostItems }: Pick<ChangeOptions, 'objections' | 'mostItems'> = {}
): { readonly order: Order } & Effects {
  const { id, customer, status, placedAt } = before
  const order = withObjections(document, objections)
  const decideContent = (wanted: PurchaseOrder) =>
    decide(wanted, shop.inventory, shop.currency, { ...before, items: acceptedItems(before.items) }, mostItems)
  const { orderNumber } = document
  const other = customer === undefined || orderNumber === undefined ? undefined : shop.activeIdNumbered(customer, orderNumber)
  const taken = other !== undefined && other !== id ? numberTaken({ id: other, orderNumber }) : undefined
  if (!isOpen(status)) {
    const closed = new DomainError('transition-refused', `The order is ${status}: it can no longer be changed.${insteadOfChange(before)}`)
    throw combinedRefusal(taken ? [closed, taken] : [closed], order, decideContent)
  }
  checkPrecondition(expected, before.version)
  if (taken) throw combinedRefusal([taken], order, decideContent)
  const decision = decideContent(order)
  const kept = before.hasDocument ? { hasDocument: true as const } : {}
  const changed = { ...content(order, customer, decision), ...kept, id, status, placedAt, ...revised(before, shop.now) }
  const after = carryOver(before, changed, decision.lines)
  return { order: after, taken: decision.taken, events: orderEvents('changed', before, after) }
}

/**
 * Whether an order has a status already, by its own status alone. `perhaps`: it counts as cancelled if its rest was cancelled after
 * a part had been shipped, which only the whole order tells.
 */
export function hasStatus({ status: current }: Pick<Order, 'status'>, status: OrderStatus): 'yes' | 'no' | 'perhaps' {
  if (current === status) return 'yes'
  return status === 'cancelled' && (current === 'shipped' || current === 'completed') ? 'perhaps' : 'no'
}

interface StatusChange extends Pick<Effects, 'taken'> {
  readonly change: Pick<Order, 'status' | 'version' | 'modifiedAt'>
  /** The whole order after the change, if more of it changes than `change`. */
  readonly rewritten?: Order
  /** The shipment of the rest, when the order becomes `shipped` by its status. */
  readonly shipment?: Shipment
}

export type StatusDecision = StatusChange & Effects

/** Whether an order gives back its stock when it gets a status. */
function givesBack(before: Order, status: OrderStatus): boolean {
  return isActive(before.status) && !isActive(status)
}

/** The products whose stock `decideStatus` may change. A store locks their stock first. */
export function productsOfStatus(before: Order, status: OrderStatus): readonly ProductReference[] {
  return givesBack(before, status) ? before.items.map(({ productId }) => ({ productId })) : []
}

/**
 * Decides what `Store.setOrderStatus` changes of an order; undefined when it has the status and the details already.
 * @throws DomainError `precondition-failed`, `transition-refused`, `invalid-status`
 */
export function decideStatus(
  before: Order,
  status: OrderStatus,
  expected: Precondition,
  shop: Pick<Shop, 'inventory' | 'now'>,
  details?: StatusDetails
): StatusDecision | undefined {
  const has = hasStatus(before, status)
  const isSame = has === 'yes' || (has === 'perhaps' && before.isRestCancelled === true)
  const detailed = isSame && details ? decideDetails(before, details) : undefined
  if (isSame && !detailed) return undefined
  checkPrecondition(expected, before.version)
  if (detailed) return withEvents(before, rewriting({ ...detailed, ...revised(before, shop.now) }))
  if (!canBecome(before.status, status)) throw refusedTransition(before.status, status)
  const decided = transition(before, status, shop)
  const withDetails = details && decideDetails(decided.rewritten ?? before, details)
  return withEvents(before, withDetails ? { ...decided, rewritten: { ...withDetails, ...decided.change } } : decided)
}

/** An allowed change of the status. An order that was shipped in part is not cancelled: what was shipped of it stays. */
function transition(before: Order, status: OrderStatus, { inventory, now }: Pick<Shop, 'inventory' | 'now'>): StatusChange {
  if (status === 'shipped') {
    const { order, shipment } = ship(before, {}, now)
    return { ...rewriting(order), shipment }
  }
  const taken = givesBack(before, status) ? givenBack(before, inventory) : new Map()
  const change = { status, ...revised(before, now) }
  if (status !== 'cancelled' || before.shipmentCount === undefined) return { change, taken }
  const cut: Order = { ...before, ...change, ...cutToShipped(before), status: 'shipped', isRestCancelled: true }
  return { ...rewriting(cut), taken }
}

function rewriting(order: Order): StatusChange {
  const { status, version, modifiedAt } = order
  return { change: { status, version, modifiedAt }, rewritten: order, taken: new Map() }
}

function withEvents({ id, customer, status }: Order, decided: StatusChange): StatusDecision {
  const after = { id, ...(customer === undefined ? {} : { customer }), ...decided.change }
  return { ...decided, events: orderEvents(decided.shipment ? 'shipped' : 'set', { status }, after) }
}

function withObjections(order: PurchaseOrder, objections: Objections | undefined): PurchaseOrder {
  if (!objections || !hasObjections(objections)) return order
  return { ...order, objections: joinObjections(order.objections, objections) }
}

/**
 * The refusal of an order for reasons that come before its content. A buyer's own document gets every fault at once, because
 * each correction is a new document there. The shop's own vocabulary gets only the first reason.
 */
function combinedRefusal(
  refusals: readonly [DomainError, ...DomainError[]],
  order: PurchaseOrder,
  decideContent: (wanted: PurchaseOrder) => unknown
) {
  const [first] = refusals
  if (!order.hasDocument) return first
  const refused = refusals.flatMap(({ message, faults }): readonly Fault[] => (faults.length > 0 ? faults : [{ detail: message }]))
  const orderId = refusals.find((refusal) => refusal.orderId !== undefined)?.orderId
  try {
    decideContent(withObjections(order, { invalid: [], refused }))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    if (error.faults.length > 1)
      return new DomainError(error.code, error.message, { faults: error.faults, ...(orderId === undefined ? {} : { orderId }) })
  }
  return first
}

/** A buyer's system may repeat a document after its order was cancelled or got another number or content. That places no new order. */
function sentBefore({ id, status }: Pick<Order, 'id' | 'status'>): DomainError {
  const since = isActive(status) ? 'now has another number' : `is ${status}`
  const detail = `This document was sent before: it is the document of the order ${id}, which ${since}. To order again, send an order with a new number.`
  return new DomainError('order-refused', detail, { faults: [{ code: 'sent-before', detail }] })
}

function content(
  order: PurchaseOrder,
  customer: string | undefined,
  { currency, items, total }: Decision
): OrderHeader & Pick<Order, 'currency' | 'items' | 'total' | 'customer' | 'hasDocument'> {
  const { items: _items, objections: _objections, ...header } = order
  return { ...header, currency, items, total, ...(customer === undefined ? {} : { customer }) }
}

/** Advice for the buyer of an order that is not open. */
function insteadOfChange({ status, isRestCancelled }: Order): string {
  if (!isActive(status)) return ' To order again, send a new order.'
  const why = isRestCancelled ? ' Its rest was cancelled after a part had been shipped.' : ''
  return `${why} To get more, send a new order; to return goods, ask the seller.`
}

export function refusedTransition(from: OrderStatus, to: OrderStatus): DomainError {
  if (to === 'cancelled' && isActive(from)) {
    return new DomainError('transition-refused', `The order is ${from}: it can no longer be cancelled. To return goods, ask the seller.`)
  }
  if (to === 'cancelled') return new DomainError('transition-refused', `The order is ${from}: there is nothing left to cancel.`)
  const next = nextStatuses(from)
  const allowed = next.length === 0 ? 'no other status can follow' : `it can become ${next.join(' or ')}`
  return new DomainError('transition-refused', `The order is ${from} and cannot become ${to}: ${allowed}.`)
}
