/** The events of the outbox: decides which events a write makes, and who hears them. */

import { type Caller, hasScope } from './caller.ts'
import { type JsonText, joinTexts, jsonOf } from './deferred.ts'
import { compare, zero } from './money.ts'
import type { Order } from './order.ts'
import type { CatalogueChange } from './product-writes.ts'

const orderEventTypes = ['order-placed', 'order-changed', 'order-status-changed', 'order-shipped'] as const
const productEventTypes = ['product-created', 'product-changed', 'product-deleted'] as const
export const eventTypes = [...orderEventTypes, ...productEventTypes, 'stock-set', 'webhook-disabled'] as const

type OrderEventType = (typeof orderEventTypes)[number]
export type EventType = (typeof eventTypes)[number]

/** An event that a write makes. */
export interface NewEvent {
  readonly type: EventType
  /** The id of the order, the product or the webhook. */
  readonly subject: string
  /** The version of the resource after the event. */
  readonly version: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The customer whose order or webhook it is. */
  readonly customer?: string
}

/** An event of the outbox without its order. */
export interface EventHead extends NewEvent {
  /** Unguessable, and reveals no count. It is also the cursor for the events after this one. */
  readonly id: string
  /** Rises by one with every event, in the order of commits. Callers never see it, because it counts events. */
  readonly position: number
  /** Characters of the order's content as JSON. */
  readonly weight: number
}

/** The weight of events that are deleted in one transaction. The last of them may exceed it. Other writes wait for the transaction. */
export const mostPruned = 8 * 1024 * 1024

export interface ShopEvent extends EventHead {
  /** The order as it was then. Only events of orders have one. */
  readonly order?: Order
}

/** An event as JSON. Its order may still be text, and is not parsed. */
export function eventJson(event: ShopEvent): JsonText {
  return joinTexts(partsOfEvent(event))
}

/** The parts of an event's JSON, in order. A page joins the parts of all its events at once, so that no large order is copied twice. */
export function partsOfEvent({ order, ...head }: ShopEvent): readonly JsonText[] {
  const text = JSON.stringify(head)
  return order ? [`${text.slice(0, -1)},"order":`, jsonOf(order), '}'] : [text]
}

/** The events that a caller hears: all of `types`, and of `own.types` only those of the customer. */
export interface Audience {
  readonly types: readonly EventType[]
  readonly own?: { readonly customer: string; readonly types: readonly EventType[] }
}

export const everyone: Audience = { types: eventTypes }

/**
 * The scope `fulfilment` hears all orders and products, `catalogue` products and stock, and `order` its own orders and
 * products. The owner of a webhook and `fulfilment` hear that it was disabled.
 */
export function audienceOf(caller: Caller): Audience {
  if (caller.kind === 'guest') return { types: [] }
  const isSeller = hasScope(caller, 'fulfilment')
  const types: readonly EventType[] = [
    ...(isSeller ? orderEventTypes : []),
    ...productEventTypes,
    ...(hasScope(caller, 'catalogue') ? (['stock-set'] as const) : []),
    ...(isSeller ? (['webhook-disabled'] as const) : [])
  ]
  if (isSeller) return { types }
  const own: readonly EventType[] = [...(hasScope(caller, 'order') ? orderEventTypes : []), 'webhook-disabled']
  return { types, own: { customer: caller.customer, types: own } }
}

/** The types of events that an audience hears, of all or of its own customer. */
export function typesHeard({ types, own }: Audience): readonly EventType[] {
  return eventTypes.filter((type) => types.includes(type) || own?.types.includes(type))
}

/** The audience of all orders, or of one customer's. */
export function ordersAudience(customer: string | undefined): Audience {
  return customer === undefined ? { types: orderEventTypes } : { types: [], own: { customer, types: orderEventTypes } }
}

/** An audience without the types that are not wanted. */
export function narrow({ types, own }: Audience, wanted: readonly EventType[]): Audience {
  const isWanted = (type: EventType) => wanted.includes(type)
  return { types: types.filter(isWanted), ...(own ? { own: { ...own, types: own.types.filter(isWanted) } } : {}) }
}

export function hears({ types, own }: Audience, { type, customer }: Pick<NewEvent, 'type' | 'customer'>): boolean {
  return types.includes(type) || (own !== undefined && own.customer === customer && own.types.includes(type))
}

/**
 * The events that a write of an order makes.
 * @param what `set`: the seller set the status, or details for the buyer
 * @param before the order before the write; undefined when it was placed
 */
export function orderEvents(
  what: 'placed' | 'changed' | 'shipped' | 'set',
  before: Pick<Order, 'status'> | undefined,
  order: Pick<Order, 'id' | 'version' | 'modifiedAt' | 'customer' | 'status'>
): readonly NewEvent[] {
  const isStatusChanged = before !== undefined && before.status !== order.status
  const types: OrderEventType[] = what === 'set' ? (isStatusChanged ? [] : ['order-changed']) : [`order-${what}`]
  if (isStatusChanged) types.push('order-status-changed')
  const { id: subject, version, modifiedAt: at, customer } = order
  return types.map((type) => ({ type, subject, version, at, ...(customer === undefined ? {} : { customer }) }))
}

/** The event of a product whose availability an order has changed. */
export function productChanged(subject: string, version: number, at: number): NewEvent {
  return { type: 'product-changed', subject, version, at }
}

/** The events that a write of a product or its stock makes. */
export function productEvents({ product, stock, deleted, created, changed }: CatalogueChange): readonly NewEvent[] {
  const events: NewEvent[] = []
  const { id: subject, version, modifiedAt: at } = product
  const type = deleted ? 'product-deleted' : created ? 'product-created' : 'product-changed'
  if (changed.product) events.push({ type, subject, version, at })
  // A new product has no stock yet, unless the seller has counted some.
  const isCounted = changed.stock && !(created && compare(stock.onHand, zero) === 0)
  if (isCounted) events.push({ type: 'stock-set', subject, version: stock.version, at: stock.modifiedAt })
  return events
}
