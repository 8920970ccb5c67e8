import { PositionError } from '../../domain/errors.ts'
import { orderEventTypes } from '../../domain/event.ts'
import type { Order, OrderSummary } from '../../domain/order.ts'
import { mostContent, type OrderList, orderList, orderPage, readPosition } from '../../domain/order-list.ts'
import type { OrderQuery, Page } from '../../domain/store.ts'
import { deferredOrder } from '../rows.ts'
import type { Database } from './database.ts'
import { isOrderId, type OrderRow, type OrderSummaryRow, toSummary } from './rows.ts'

/** A time and a row number: the place in a list after which its page begins. */
interface Start {
  readonly time: number
  readonly seq: number
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** @throws PositionError if the order is not in the list */
async function start(database: Database, list: OrderList, after: string | undefined): Promise<Start> {
  if (after === undefined) return list.direction === 'newest' ? { time: Number.MAX_SAFE_INTEGER, seq: 0 } : { time: -1, seq: 0 }
  const { id, modifiedAt } = readPosition(after, list)
  const sql = 'SELECT seq, placed_at FROM purchase_order WHERE id = $1 AND ($2::text IS NULL OR customer = $2)'
  const values = [id, list.indexed.customer ?? null]
  const [row] = isOrderId(id) ? await database.query<{ readonly seq: number; readonly placed_at: number }>(sql, values) : []
  if (!row) throw new PositionError('not an order of this list')
  return { time: modifiedAt ?? row.placed_at, seq: row.seq }
}

/**
 * The rows of a page, in the order of the list. The conditions and the order are those of one index, so the planner finds none
 * that is cheaper. The filters that the index does not answer are checked on the rows, whose number is bounded.
 */
function rowsOf(list: OrderList, { time, seq }: Start, columns: string, values: unknown[] = []): Statement {
  const { customer, status, orderNumber } = list.indexed
  const [beyond, direction] = list.direction === 'newest' ? ['<', 'DESC'] : ['>', 'ASC']
  const at = `o.${list.by}_at`
  const conditions = [
    `(${at}, o.seq) ${beyond} ($${values.push(time)}::bigint, $${values.push(seq)}::bigint)`,
    `${at} >= $${values.push(list.since)}::bigint`
  ]
  if (customer !== undefined) conditions.push(`o.customer = $${values.push(customer)}`)
  if (status !== undefined) conditions.push(`o.status = $${values.push(status)}`)
  if (orderNumber !== undefined) conditions.push(`o.order_number = $${values.push(orderNumber)}`)
  const text = `SELECT ${columns} FROM purchase_order o WHERE ${conditions.join(' AND ')}
    ORDER BY ${at} ${direction}, o.seq ${direction} LIMIT $${values.push(list.rows)}::bigint`
  return { text, values }
}

const listed = 'o.seq, o.id, o.version, o.customer, o.order_number, o.status, o.placed_at, o.modified_at'

/** The query of a page of summaries. An order that a replica of an earlier release placed or changed has no summary. */
export function summariesQuery(list: OrderList, from: Start, lines: boolean): Statement {
  const columns = `${listed},
      coalesce(o.item_count, json_array_length(o.content -> 'items')) AS item_count, coalesce(o.currency, o.content ->> 'currency') AS currency,
      coalesce(o.total, o.content ->> 'total') AS total, o.buyer_name, CASE WHEN $1::boolean THEN o.lines END AS lines`
  return rowsOf(list, from, columns, [lines])
}

/** The query of a page of whole orders. Only the content that the page shows is read: the first order's, and what fits beside it. */
export function wholeQuery(list: OrderList, from: Start): Statement {
  const { status, placedSince, modifiedSince } = list.checked
  const values = [mostContent, status ?? null, placedSince ?? 0, modifiedSince ?? 0]
  const isListed = '($2::text IS NULL OR o.status = $2) AND o.placed_at >= $3::bigint AND o.modified_at >= $4::bigint'
  const direction = list.direction === 'newest' ? 'DESC' : 'ASC'
  const rows = rowsOf(list, from, `o.seq, o.${list.by}_at AS at, CASE WHEN ${isListed} THEN o.content_size ELSE 0 END AS size`, values)
  const text = `WITH k AS MATERIALIZED (${rows.text}),
      r AS MATERIALIZED (SELECT k.*, sum(k.size) OVER (ORDER BY k.at ${direction}, k.seq ${direction}) AS running FROM k)
    SELECT ${listed}, CASE WHEN r.size > 0 AND (r.running <= $1::bigint OR r.running = r.size) THEN o.content END AS content
    FROM r JOIN purchase_order o ON o.seq = r.seq ORDER BY r.at ${direction}, r.seq ${direction}`
  return { text, values: rows.values }
}

/** Reads pages of orders. */
export async function summaries(database: Database, query: OrderQuery): Promise<Page<OrderSummary>> {
  const list = orderList(query)
  const { text, values } = summariesQuery(list, await start(database, list, query.after), query.lines ?? false)
  return orderPage(await database.query<OrderSummaryRow>(text, values), list, toSummary)
}

export async function wholeOrders(database: Database, query: OrderQuery): Promise<Page<Order>> {
  const list = orderList(query)
  const { text, values } = wholeQuery(list, await start(database, list, query.after))
  const rows = await database.query<Omit<OrderRow, 'content'> & { readonly content: string | null }>(text, values)
  return orderPage(rows, list, (row) => (row.content === null ? undefined : deferredOrder(row, row.content)))
}

/**
 * The id of the last event of an order, or of the last event of all when those of orders are not kept any more. Stock and products
 * change more often than orders, and must not make a reader of orders read them again. A replica of an earlier release writes no
 * events, so the last change of an order counts too.
 */
export async function ordersRevision(database: Database, customer: string | undefined): Promise<string> {
  const values = [orderEventTypes, ...(customer === undefined ? [] : [customer])]
  const [ofEvent, ofOrder] = customer === undefined ? ['', ''] : ['AND e.customer = $2', 'WHERE o.customer = $2']
  const [row] = await database.query<{ event: string | null; change: string | null }>(
    `SELECT (SELECT id FROM event WHERE position = coalesce(
          (SELECT max(n.position) FROM unnest($1::text[]) AS w (type), LATERAL (
            SELECT e.position FROM event e WHERE e.type = w.type ${ofEvent} ORDER BY e.position DESC LIMIT 1) n),
          (SELECT max(position) FROM event))) AS event,
      (SELECT o.modified_at || ' ' || o.version || ' ' || o.id FROM purchase_order o ${ofOrder} ORDER BY o.modified_at DESC, o.seq DESC LIMIT 1) AS change`,
    values
  )
  return `${row?.event ?? ''} ${row?.change ?? ''}`
}
