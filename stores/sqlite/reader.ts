import { orderNotFound } from '../../domain/errors.ts'
import { gtinsAmong, type ProductName, requireActive } from '../../domain/product.ts'
import type { Revision } from '../../domain/store.ts'
import { requiredRow } from '../required-row.ts'
import {
  inactiveStatuses,
  keyColumns,
  type OptionRow,
  optionColumns,
  optionOf,
  orderHeadColumns,
  productColumns,
  type SizedOrderRow,
  storedOrderHeadOf
} from '../rows.ts'
import type { Connection } from './connection.ts'
import { makeDocumentReader } from './order-documents.ts'
import { makeOrderPages } from './order-pages.ts'
import {
  type KeyRow,
  type ProductRow,
  type StockRow,
  stockColumns,
  toDeferredOrder,
  toKey,
  toProduct,
  toStock,
  type UndecodedOrderRow,
  undecodedOrderColumns
} from './rows.ts'
import type { Sync } from './write-verbs.ts'

type ReadVerb =
  | 'product'
  | 'productsCoded'
  | 'productNames'
  | 'mainCategories'
  | 'revision'
  | 'stock'
  | 'order'
  | 'orderHead'
  | 'orderHeadNumbered'
  | 'documentOf'
  | 'wholeDocumentOf'
  | 'orders'
  | 'wholeOrders'
  | 'keys'
  | 'findKey'
  | 'isEmpty'
  | 'ping'

interface Reader extends Sync<ReadVerb> {
  /** Undefined when there is no such product, or it is deleted. */
  productVersion(id: string): number | undefined
  /** Changes when another connection changes the database. This one only reads. */
  dataVersion(): number | undefined
}

const isNumbered = 'customer = @customer AND order_number = @orderNumber'

/** SQLite knows the length of a text without reading the text. */
const sizedOrderColumns = `${orderHeadColumns}, octet_length(o.content) AS content_size`

/** Finds the order by indexes alone. A number can have many orders that have ended: the index has the last one at its end. */
export const numberedSql = `SELECT ${sizedOrderColumns} FROM purchase_order o WHERE seq = coalesce(
  (SELECT seq FROM purchase_order INDEXED BY order_number WHERE ${isNumbered} AND status NOT IN (${inactiveStatuses})),
  (SELECT seq FROM purchase_order INDEXED BY order_any_number WHERE ${isNumbered} ORDER BY placed_at DESC, seq DESC LIMIT 1))`

const isCode = 'IN (SELECT value FROM json_each(@codes))'

export const codedSql = `SELECT ${optionColumns} FROM product WHERE (id ${isCode} OR gtin14 IN (SELECT value FROM json_each(@gtins))) AND deleted = 0`

/** The reads of products, orders and keys, except pages of products. A read sees every write that was acknowledged before it. */
export function makeReader(db: Connection, currency: string): Reader {
  const product = db.prepare<[string], ProductRow>(`SELECT ${productColumns} FROM product p WHERE p.id = ?`)
  const coded = db.prepare<[{ codes: string; gtins: string }], OptionRow>(codedSql)
  // Both columns are before the texts in a row, so the texts of a large product are not read.
  const names = db.prepare<[number], ProductName>('SELECT id, name FROM product WHERE deleted = 0 ORDER BY id LIMIT ?')
  const productVersion = db.prepare<[string], number>('SELECT version FROM product WHERE id = ? AND deleted = 0').pluck()
  const stock = db.prepare<[string], StockRow & { deleted: 0 | 1 }>(
    `SELECT p.deleted, ${stockColumns} FROM product p JOIN stock s ON s.product = p.seq WHERE p.id = ?`
  )
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  const revision = db.prepare<[], Revision>('SELECT revision, modified_at AS modifiedAt FROM catalogue')
  const order = db.prepare<[string], UndecodedOrderRow>(`SELECT ${undecodedOrderColumns} FROM purchase_order o WHERE id = ?`)
  const orderHead = db.prepare<[string], SizedOrderRow>(`SELECT ${sizedOrderColumns} FROM purchase_order o WHERE id = ?`)
  const numbered = db.prepare<[{ customer: string; orderNumber: string }], SizedOrderRow>(numberedSql)
  const keys = db.prepare<[], KeyRow>(`SELECT ${keyColumns} FROM api_key ORDER BY created_at, id`)
  const key = db.prepare<[string], KeyRow>(`SELECT ${keyColumns} FROM api_key WHERE hash = ?`)
  // Each step looks up the next category in the index, so the time depends on the number of categories, not of products.
  const nextMain = "SELECT json_extract(categories, '$[0]') AS main FROM product INDEXED BY product_main_category WHERE deleted = 0"
  const mainCategories = db
    .prepare<[number], string>(
      `WITH RECURSIVE step (main) AS (
        VALUES ('') UNION ALL
        SELECT (SELECT main FROM (${nextMain}) WHERE main > step.main ORDER BY main LIMIT 1) FROM step WHERE step.main IS NOT NULL)
      SELECT main FROM step WHERE main > '' LIMIT ?`
    )
    .pluck()
  const any = db.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM product)').pluck()

  return {
    product(id) {
      return toProduct(requireActive(id, product.get(id)), currency)
    },
    productsCoded(codes) {
      return coded.all({ codes: JSON.stringify(codes), gtins: JSON.stringify(gtinsAmong(codes)) }).map(optionOf)
    },
    productNames(limit) {
      return names.all(limit)
    },
    mainCategories(limit) {
      return mainCategories.all(limit)
    },
    revision() {
      return requiredRow(revision.get())
    },
    stock(productId) {
      return toStock(productId, requireActive(productId, stock.get(productId)))
    },
    order(id) {
      const row = order.get(id)
      if (!row) throw orderNotFound()
      return toDeferredOrder(row)
    },
    orderHead(id) {
      const row = orderHead.get(id)
      if (!row) throw orderNotFound()
      return storedOrderHeadOf(row)
    },
    orderHeadNumbered(customer, orderNumber) {
      const row = numbered.get({ customer, orderNumber })
      return row && storedOrderHeadOf(row)
    },
    ...makeDocumentReader(db),
    ...makeOrderPages(db),
    keys() {
      return keys.all().map(toKey)
    },
    findKey(hash) {
      const row = key.get(hash)
      return row && toKey(row)
    },
    isEmpty() {
      return any.get() === 0
    },
    ping() {
      revision.get()
    },
    dataVersion: () => dataVersion.get(),
    productVersion(id) {
      return productVersion.get(id)
    }
  }
}
