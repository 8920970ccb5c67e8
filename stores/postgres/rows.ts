/** Converts the rows of PostgreSQL to domain values. */

import type { ApiKey, Scope } from '../../domain/caller.ts'
import { type Decimal, plain } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import type { Product, Stock } from '../../domain/product.ts'
import { type CommonKeyRow, type CommonOrderRow, type CommonProductRow, keyOf, orderFrom, orderHeadColumns, productOf } from '../rows.ts'

/** An SQL expression: milliseconds since the epoch by the database's clock, which all replicas share. */
export const now = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** SQL: the GTIN of a product in 14 digits. It has the text of the index `product_gtin14`. */
export const gtin14Column = "lpad(gtin, 14, '0')"

export interface ProductRow extends CommonProductRow {
  readonly seq: number
  readonly categories: readonly string[]
  readonly images: readonly string[]
  readonly backorder: boolean
  readonly deleted: boolean
}

export function toProduct(row: Omit<ProductRow, 'seq' | 'deleted'>, currency: string): Product {
  const { categories, images, backorder } = row
  return productOf(row, { currency, categories, images, backorder })
}

export interface StockRow {
  readonly stock_version: number
  readonly on_hand: Decimal
  readonly stock_modified_at: number
}

export const stockColumns = 's.version AS stock_version, s.on_hand, s.modified_at AS stock_modified_at'

export function toStock(productId: string, row: StockRow): Stock {
  return { productId, version: row.stock_version, onHand: plain(row.on_hand), modifiedAt: row.stock_modified_at }
}

export interface OrderRow extends CommonOrderRow {
  /** JSON. */
  readonly content: string
}

export const orderColumns = `${orderHeadColumns}, o.content`

/** Whether a text has the form of our ids of orders and webhooks. PostgreSQL would also accept other forms of a UUID, such as capitals. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text)
}

/** The content of a large order stays text until it is read. */
export function toOrder(row: OrderRow): Order {
  return orderFrom(row, row.content)
}

export interface KeyRow extends CommonKeyRow {
  readonly scopes: readonly Scope[]
}

export function toKey(row: KeyRow): ApiKey {
  return keyOf(row, row.scopes)
}
