import { orderNotFound } from '../../domain/errors.ts'
import type { Store } from '../../domain/store.ts'
import {
  type DocumentRow,
  type DocumentSizeRow,
  documentColumns,
  documentFrom,
  type WholeDocumentRow,
  wholeDocumentColumns,
  wholeDocumentFrom
} from '../document-rows.ts'
import { inactiveStatuses, type SizedOrderRow, storedOrderHeadOf } from '../rows.ts'
import type { Database } from './database.ts'
import { firstOf, highest } from './index-range.ts'
import { sizedOrderColumns } from './order-contents.ts'
import { summaries, wholeOrders } from './order-pages.ts'
import { ordersRevision } from './orders-revision.ts'
import { isUuid, type OrderRow, orderColumns, toOrder } from './rows.ts'

/** The order of a number: the active one, or the last of those that have ended, of which there can be many. */
const numberedSql = `SELECT ${sizedOrderColumns} FROM purchase_order o WHERE o.seq = coalesce(
  (SELECT seq FROM purchase_order WHERE customer = $1 AND order_number = $2 AND status NOT IN (${inactiveStatuses})),
  (${firstOf(
    {
      table: 'purchase_order',
      key: ['customer', 'order_number', 'placed_at', 'seq'],
      direction: 'DESC',
      start: ['$1', '$2', highest, highest],
      within: 'customer = $1 AND order_number = $2'
    },
    'seq'
  )}))`

/** The verbs that read orders. */
export function makeOrders(
  database: Database
): Pick<
  Store,
  'order' | 'orderHead' | 'orderHeadNumbered' | 'orders' | 'wholeOrders' | 'documentOf' | 'wholeDocumentOf' | 'ordersRevision'
> {
  async function documentRow<Row extends DocumentRow>(id: string, columns: string): Promise<Row> {
    const sql = `SELECT ${columns} FROM purchase_order o LEFT JOIN order_document d ON d.order_id = o.id WHERE o.id = $1`
    const [row] = isUuid(id) ? await database.query<Row & Record<string, unknown>>(sql, [id]) : []
    if (!row) throw orderNotFound()
    return row
  }

  return {
    async order(id) {
      const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.id = $1`
      const [row] = isUuid(id) ? await database.prepared<OrderRow>(sql, [id]) : []
      if (!row) throw orderNotFound()
      return toOrder(row)
    },
    async orderHead(id) {
      const sql = `SELECT ${sizedOrderColumns} FROM purchase_order o WHERE o.id = $1`
      const [row] = isUuid(id) ? await database.prepared<SizedOrderRow & Record<string, unknown>>(sql, [id]) : []
      if (!row) throw orderNotFound()
      return storedOrderHeadOf(row)
    },
    async orderHeadNumbered(customer, orderNumber) {
      const [row] = await database.prepared<SizedOrderRow & Record<string, unknown>>(numberedSql, [customer, orderNumber])
      return row && storedOrderHeadOf(row)
    },
    documentOf: async (id) => documentFrom(await documentRow<DocumentSizeRow>(id, documentColumns)),
    wholeDocumentOf: async (id) => wholeDocumentFrom(await documentRow<WholeDocumentRow>(id, wholeDocumentColumns)),
    orders: (query) => summaries(database, query),
    wholeOrders: (query, most) => wholeOrders(database, query, most),
    ordersRevision: (customer) => ordersRevision(database, customer)
  }
}
