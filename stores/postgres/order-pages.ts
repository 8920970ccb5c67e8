import { LargeRead, PositionError } from '../../domain/errors.ts'
import type { Order, OrderSummary } from '../../domain/order.ts'
import {
  mostContent,
  type OrderList,
  orderList,
  orderPage,
  type Place,
  type Range,
  rangeOf,
  readPosition
} from '../../domain/order-list.ts'
import type { Page } from '../../domain/page.ts'
import type { OrderQuery } from '../../domain/store.ts'
import { type CommonOrderRow, deferredOrder, orderHeadColumns, type SummaryRow, summaryFrom } from '../rows.ts'
import type { Database, Statement } from './database.ts'
import { firstRowsOf, type IndexRange, orderOf } from './index-range.ts'
import { isUuid } from './rows.ts'

/** @throws PositionError if the order is not in the list */
async function rangeAfter(database: Database, list: OrderList, after: string | undefined): Promise<Range> {
  if (after === undefined) return rangeOf(list)
  const { id, modifiedAt } = readPosition(after, list)
  const sql = 'SELECT seq, placed_at FROM purchase_order WHERE id = $1 AND ($2::text IS NULL OR customer = $2)'
  const values = [id, list.indexed.customer ?? null]
  const [row] = isUuid(id) ? await database.query<{ readonly seq: number; readonly placed_at: number }>(sql, values) : []
  if (!row) throw new PositionError('not an order of this list')
  return rangeOf(list, { time: modifiedAt ?? row.placed_at, seq: row.seq })
}

/** The rows of a page, in the order of the list. */
function rowsOf(list: OrderList, { above, below }: Range, columns: string, values: unknown[] = []): Statement {
  const { customer, status, orderNumber } = list.indexed
  const filters = Object.entries({ customer, order_number: orderNumber, status }).filter(([, value]) => value !== undefined)
  const key = [...filters.map(([column]) => column), `${list.by}_at`, 'seq']
  const filtered = filters.map(([, value]) => `$${values.push(value)}::text`)
  const place = ({ time, seq }: Place) => [...filtered, `$${values.push(time)}::bigint`, `$${values.push(seq)}::bigint`]
  const isNewest = list.direction === 'newest'
  const [start, end] = isNewest ? [place(below), place(above)] : [place(above), place(below)]
  const range: IndexRange = {
    table: 'purchase_order',
    key,
    direction: isNewest ? 'DESC' : 'ASC',
    start,
    within: `(${key.join(', ')}) ${isNewest ? '>' : '<'} (${end.join(', ')})`
  }
  const rows = firstRowsOf(range, `$${values.push(list.mostRows)}::bigint`)
  return { text: `SELECT ${columns} FROM (${rows}) AS o ORDER BY ${orderOf(range)}`, values }
}

/** The query of a page of summaries. An order that a replica of an earlier release placed or changed has no summary. */
export function summariesQuery(list: OrderList, range: Range, lines: boolean): Statement {
  const columns = `${orderHeadColumns},
      coalesce(o.item_count, json_array_length(o.content -> 'items')) AS item_count, coalesce(o.currency, o.content ->> 'currency') AS currency,
      coalesce(o.total, o.content ->> 'total') AS total, o.buyer_name, CASE WHEN $1::boolean THEN o.lines END AS lines`
  return rowsOf(list, range, columns, [lines])
}

/**
 * The query of a page of whole orders. Only the content that the page shows is read: the first order's, and what fits beside it. If it has
 * more than `most` bytes, none is read.
 */
export function wholeQuery(list: OrderList, range: Range, most: number): Statement {
  const { status, placedSince, modifiedSince } = list.checked
  const values = [mostContent, status ?? null, placedSince ?? 0, modifiedSince ?? 0]
  const isListed = '($2::text IS NULL OR o.status = $2) AND o.placed_at >= $3::bigint AND o.modified_at >= $4::bigint'
  const order = list.direction === 'newest' ? `${list.by}_at DESC, seq DESC` : `${list.by}_at, seq`
  const rows = rowsOf(list, range, `${orderHeadColumns}, CASE WHEN ${isListed} THEN o.content_size ELSE 0 END AS size`, values)
  const [limit, allowed] = [list.limit, most].map((value) => `$${values.push(value)}::bigint`)
  const text = `WITH k AS MATERIALIZED (${rows.text}),
      r AS (SELECT *, sum(size) OVER w AS running, count(*) FILTER (WHERE size > 0) OVER w AS nth FROM k WINDOW w AS (ORDER BY ${order})),
      s AS (SELECT *, CASE WHEN nth <= ${limit} AND (running <= $1::bigint OR running = size) THEN size ELSE 0 END AS shown FROM r),
      p AS (SELECT *, sum(shown) OVER () AS total FROM s)
    SELECT p.seq, p.id, p.version, p.customer, p.order_number, p.status, p.placed_at, p.modified_at, p.total,
      CASE WHEN p.shown > 0 AND p.total <= ${allowed}
        THEN (SELECT content FROM purchase_order o WHERE o.seq = p.seq) END AS content
    FROM p ORDER BY ${order}`
  return { text, values }
}

/**
 * For the query of a page, sorts and bitmap scans are off, so that only the index in the order of the list is left. Otherwise the planner
 * reads and sorts all orders of a filter if it believes that there are few. Exported for the tests that read the plans.
 */
export const planning = "SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)"

/** Reads a page of summaries. */
export async function summaries(database: Database, query: OrderQuery): Promise<Page<OrderSummary>> {
  const list = orderList(query)
  const statement = summariesQuery(list, await rangeAfter(database, list, query.after), query.lines ?? false)
  return orderPage(await database.queryWith<SummaryRow & Record<string, unknown>>(planning, statement), list, summaryFrom)
}

interface WholeRow extends CommonOrderRow, Record<string, unknown> {
  readonly content: string | null
  /** Bytes of all content of the page. */
  readonly total: number
}

export async function wholeOrders(database: Database, query: OrderQuery, most = Number.MAX_SAFE_INTEGER): Promise<Page<Order>> {
  const list = orderList(query)
  const statement = wholeQuery(list, await rangeAfter(database, list, query.after), most)
  const rows = await database.queryWith<WholeRow>(planning, statement)
  const total = rows[0]?.total ?? 0
  if (total > most) throw new LargeRead(total)
  return orderPage(rows, list, (row) => (row.content === null ? undefined : deferredOrder(row, row.content)))
}
