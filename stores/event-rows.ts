/** The rows of the outbox that both databases share, and the query that finds the next ones. */

import { type JsonText, mostInline } from '../domain/deferred.ts'
import type { Audience, EventHead, EventType, ShopEvent } from '../domain/event.ts'
import type { OrderStatus } from '../domain/order.ts'
import { deferredOrder, orderFrom } from './rows.ts'

export interface HeadRow {
  readonly position: number
  readonly id: string
  readonly type: EventType
  readonly subject: string
  readonly version: number
  readonly at: number
  readonly customer: string | null
  readonly weight: number
}

export const headColumns = 'e.position, e.id, e.type, e.subject, e.version, e.at, e.customer, e.weight'

export function headOf({ customer, ...row }: HeadRow): EventHead {
  return { ...row, ...(customer === null ? {} : { customer }) }
}

/** The order that a new event shows. */
export interface EventOrder {
  readonly status: string
  /** JSON. */
  readonly content: string
}

/** The longest content, in characters, that is copied into the event at once. Copying it later costs an entry in an index. */
const mostCopied = 4_096

/** The columns of a new event that come from its order. A large content is copied only when the order gets another one. */
export function orderColumnsOf(order: EventOrder | undefined) {
  if (!order) return { status: null, weight: 0, content: null }
  const { status, content } = order
  return { status, weight: content.length, content: content.length <= mostCopied ? content : null }
}

/** The columns from which the order of an event is made. They are null in other events. */
export interface EventOrderRow {
  readonly position: number
  readonly status: OrderStatus | null
  readonly placed_at: number | null
  readonly content: JsonText | null
}

/** The events of a page. If their orders are large together, they stay text, because they are sent as text. */
export function eventsOf(heads: readonly EventHead[], rowOf: (head: EventHead) => EventOrderRow | undefined): readonly ShopEvent[] {
  const toOrder = heads.reduce((sum, { weight }) => sum + weight, 0) > mostInline ? deferredOrder : orderFrom
  return heads.flatMap((head) => {
    const row = rowOf(head)
    return row ? [eventOf(head, row, toOrder)] : []
  })
}

function eventOf(head: EventHead, { status, placed_at, content }: EventOrderRow, toOrder: typeof orderFrom): ShopEvent {
  if (status === null || content === null || placed_at === null) return head
  const { subject: id, version, customer = null, at: modified_at } = head
  const columns = { seq: 0, id, version, customer, status, placed_at, modified_at }
  return { ...head, order: toOrder(columns, content) }
}

/** One look-up in an index: the events of a type, or those of a type and a customer. */
export type Lookup = { readonly type: EventType; readonly customer: string | null }

/** The look-ups that together find what an audience hears. There is at most one for each type and kind. */
export function lookupsOf({ types, own }: Audience): readonly Lookup[] {
  const ownTypes = (own?.types ?? []).filter((type) => !types.includes(type))
  return [...types.map((type) => ({ type, customer: null })), ...(own ? ownTypes.map((type) => ({ type, customer: own.customer })) : [])]
}
