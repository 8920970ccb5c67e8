import { orderNotFound, PositionError } from '../../domain/errors.ts'
import type { OrderSummary } from '../../domain/order.ts'
import type { OrderQuery, Page, Store } from '../../domain/store.ts'
import { toPage } from '../paging.ts'
import type { Database } from './database.ts'
import { type DocumentRow, documentFrom } from './order-documents.ts'
import { isOrderId, type OrderRow, type OrderSummaryRow, orderColumns, toOrder, toSummary } from './rows.ts'

/** The verbs that read orders. */
export function makeOrders(database: Database): Pick<Store, 'order' | 'orderNumbered' | 'orders' | 'documentOf'> {
  return {
    async order(id) {
      const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.id = $1`
      const [row] = isOrderId(id) ? await database.prepared<OrderRow>(sql, [id]) : []
      if (!row) throw orderNotFound()
      return toOrder(row)
    },
    async orderNumbered(customer, orderNumber) {
      const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.customer = $1 AND o.order_number = $2
        ORDER BY o.status IN ('cancelled', 'rejected'), o.seq DESC LIMIT 1`
      const [row] = await database.prepared<OrderRow>(sql, [customer, orderNumber])
      return row && toOrder(row)
    },
    async documentOf(id) {
      const sql = `SELECT d.media_type, d.digest, d.revision, d.answer, d.bytes
        FROM purchase_order o LEFT JOIN order_document d ON d.order_id = o.id WHERE o.id = $1`
      const [row] = isOrderId(id) ? await database.query<DocumentRow>(sql, [id]) : []
      if (!row) throw orderNotFound()
      return documentFrom(row)
    },
    orders: (query) => page(database, query)
  }
}

/** The row number of an order in the list. @throws PositionError if the order is not in the list */
async function rowNumberOf(database: Database, id: string, customer: string | undefined): Promise<number> {
  const sql = 'SELECT seq FROM purchase_order WHERE id = $1 AND ($2::text IS NULL OR customer = $2)'
  const [row] = isOrderId(id) ? await database.query<{ readonly seq: number }>(sql, [id, customer ?? null]) : []
  if (!row) throw new PositionError('not an order of this list')
  return row.seq
}

/** Reads a page of orders, the newest first. Each combination of filters has an index, which ends with the row number. */
async function page(database: Database, { limit, after, customer, status, lines = false }: OrderQuery): Promise<Page<OrderSummary>> {
  const before = after === undefined ? Number.MAX_SAFE_INTEGER : await rowNumberOf(database, after, customer)
  const values: unknown[] = [before, limit, lines]
  const conditions = ['o.seq < $1']
  if (customer !== undefined) conditions.push(`o.customer = $${values.push(customer)}`)
  if (status !== undefined) conditions.push(`o.status = $${values.push(status)}`)
  // An order that a replica of an earlier release placed or changed has no summary.
  const sql = `SELECT o.seq, o.id, o.version, o.customer, o.order_number, o.status, o.placed_at, o.modified_at,
      coalesce(o.item_count, json_array_length(o.content -> 'items')) AS item_count, coalesce(o.currency, o.content ->> 'currency') AS currency,
      coalesce(o.total, o.content ->> 'total') AS total, o.buyer_name, CASE WHEN $3::boolean THEN o.lines END AS lines
    FROM purchase_order o WHERE ${conditions.join(' AND ')} ORDER BY o.seq DESC LIMIT $2::bigint + 1`
  const rows = await database.query<OrderSummaryRow>(sql, values)
  // Unlike the row number, the id does not reveal how many orders there are.
  return toPage(rows, limit, toSummary, ({ id }) => id)
}
