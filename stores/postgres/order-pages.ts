import { PositionError } from '../../domain/errors.ts'
import type { Order, OrderSummary } from '../../domain/order.ts'
import {
  type OrderList,
  orderList,
  orderPage,
  type Place,
  type Range,
  rangeOf,
  readPosition,
  wholeOrderPage
} from '../../domain/order-list.ts'
import type { Page } from '../../domain/page.ts'
import type { OrderQuery } from '../../domain/store.ts'
import { type CommonOrderRow, deferredOrder, orderHeadColumns, type SummaryRow, shipmentCountOf, summaryFrom } from '../rows.ts'
import type { Database, Queries, Statement } from './database.ts'
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
      coalesce(o.total, o.content ->> 'total') AS total, o.buyer_name,
      ${shipmentCountOf('shipment.order_id = o.id')}, CASE WHEN $1::boolean THEN o.lines END AS lines`
  return rowsOf(list, range, columns, [lines])
}

/** The query of the rows of a page of whole orders, without their content. */
export function sizesQuery(list: OrderList, range: Range): Statement {
  return rowsOf(list, range, `${orderHeadColumns}, o.content_size AS size`)
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

interface SizedRow extends CommonOrderRow, Record<string, unknown> {
  readonly size: number
}

/** The content is read after the page is known, in the same state of the database. */
export async function wholeOrders(database: Database, query: OrderQuery, most?: number): Promise<Page<Order>> {
  const list = orderList(query)
  const { text, values } = sizesQuery(list, await rangeAfter(database, list, query.after))
  return database.snapshot(async (queries) => {
    void queries.query(planning)
    const { items, ...next } = wholeOrderPage(await queries.query<SizedRow>(text, values), list, most)
    const contents = await contentsOf(queries, items)
    return { items: items.map((row) => deferredOrder(row, contents.get(row.seq) ?? '')), ...next }
  })
}

async function contentsOf({ query }: Queries, rows: readonly SizedRow[]): Promise<ReadonlyMap<number, string>> {
  if (rows.length === 0) return new Map()
  const found = await query<{ readonly seq: number; readonly content: string }>(
    'SELECT seq, content FROM purchase_order WHERE seq = ANY($1::bigint[])',
    [rows.map(({ seq }) => seq)]
  )
  return new Map(found.map(({ seq, content }) => [seq, content]))
}
