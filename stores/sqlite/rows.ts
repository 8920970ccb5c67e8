/** Converts the rows of SQLite to domain values. */

import type { ApiKey } from '../../domain/caller.ts'
import { type JsonText, mostBytesOfCharacter, mostInline } from '../../domain/deferred.ts'
import { type Decimal, fromUnits, plain, toUnits } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import type { Product, Stock } from '../../domain/product.ts'
import {
  type CommonKeyRow,
  type CommonOrderRow,
  type CommonProductRow,
  keyOf,
  orderFrom,
  orderHeadColumns,
  orderOf,
  productOf
} from '../rows.ts'

const stockScale = 3

export interface ProductRow extends CommonProductRow {
  readonly seq: number
  readonly categories: string
  readonly images: string
  readonly backorder: 0 | 1
  readonly deleted: 0 | 1
}

export function toProduct(row: ProductRow, currency: string): Product {
  const [categories, images] = [JSON.parse(row.categories), JSON.parse(row.images)]
  return productOf(row, { currency, categories, images, backorder: row.backorder === 1 })
}

/** `on_hand` is read as text, because the integer may be above 2^53. */
export interface StockRow {
  readonly stock_version: number
  readonly on_hand: string
  readonly stock_modified_at: number
}

export const stockColumns = 's.version AS stock_version, CAST(s.on_hand AS TEXT) AS on_hand, s.modified_at AS stock_modified_at'

export function toStock(productId: string, row: StockRow): Stock {
  return { productId, version: row.stock_version, onHand: fromThousandths(row.on_hand), modifiedAt: row.stock_modified_at }
}

export function fromThousandths(units: string | bigint): Decimal {
  return plain(fromUnits(BigInt(units), stockScale))
}

/** @throws RangeError if there are more than three fraction digits */
export function toThousandths(quantity: Decimal): bigint {
  return toUnits(quantity, stockScale)
}

export interface OrderRow extends CommonOrderRow {
  readonly content: string
}

export const orderColumns = `${orderHeadColumns}, o.content`

/** Parses the whole order, for decisions. */
export function toOrder(row: OrderRow): Order {
  return orderOf(row, JSON.parse(row.content))
}

/** SQL: the text of an expression. It stays bytes if it is so long that the serving thread never parses it (`isLarge`). */
export function undecoded(expression: string): string {
  return `iif(octet_length(${expression}) > ${mostBytesOfCharacter * mostInline}, CAST(${expression} AS BLOB), ${expression})`
}

export interface UndecodedOrderRow extends CommonOrderRow {
  readonly content: JsonText
}

/** The columns that the serving thread reads. */
export const undecodedOrderColumns = `${orderHeadColumns}, ${undecoded('o.content')} AS content`

/** The content of a large order stays text until it is read. */
export function toDeferredOrder(row: UndecodedOrderRow): Order {
  return orderFrom(row, row.content)
}

export interface KeyRow extends CommonKeyRow {
  readonly scopes: string
}

export function toKey(row: KeyRow): ApiKey {
  return keyOf(row, JSON.parse(row.scopes))
}
