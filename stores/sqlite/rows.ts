/** Rows as SQLite gives them, and the domain's values that they hold. */

import type { ApiKey } from '../../domain/caller.ts'
import { type Decimal, fromUnits, plain, toUnits } from '../../domain/money.ts'
import type { Order, OrderStatus } from '../../domain/order.ts'
import type { Availability, Product, Stock } from '../../domain/product.ts'

const stockScale = 3

export interface ProductRow {
  readonly seq: number
  readonly id: string
  readonly version: number
  readonly name: string
  readonly description: string | null
  readonly price: Decimal
  readonly unit: string
  readonly gtin: string | null
  readonly categories: string
  readonly images: string
  readonly backorder: 0 | 1
  readonly availability: Availability
  readonly modified_at: number
  readonly deleted: 0 | 1
}

export const productColumns = `p.seq, p.id, p.version, p.name, p.description, p.price, p.unit, p.gtin, p.categories, p.images,
  p.backorder, p.availability, p.modified_at, p.deleted`

export function toProduct(row: ProductRow, currency: string): Product {
  return {
    id: row.id,
    version: row.version,
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    price: row.price,
    currency,
    unit: row.unit,
    ...(row.gtin === null ? {} : { gtin: row.gtin }),
    categories: JSON.parse(row.categories),
    images: JSON.parse(row.images),
    backorder: row.backorder === 1,
    availability: row.availability,
    modifiedAt: row.modified_at
  }
}

/** `on_hand` is read as text: as an integer it may be above 2^53. */
export interface StockRow {
  readonly version: number
  readonly on_hand: string
  readonly modified_at: number
}

export const stockColumns = 's.version, CAST(s.on_hand AS TEXT) AS on_hand, s.modified_at'

export function toStock(productId: string, row: StockRow): Stock {
  return { productId, version: row.version, onHand: fromThousandths(row.on_hand), modifiedAt: row.modified_at }
}

export function fromThousandths(units: string | bigint): Decimal {
  return plain(fromUnits(BigInt(units), stockScale))
}

/** @throws RangeError beyond three fraction digits */
export function toThousandths(quantity: Decimal): bigint {
  return toUnits(quantity, stockScale)
}

export interface OrderRow {
  readonly seq: number
  readonly id: string
  readonly version: number
  readonly customer: string | null
  readonly status: OrderStatus
  readonly placed_at: number
  readonly modified_at: number
  readonly content: string
}

export const orderColumns = 'seq, id, version, customer, status, placed_at, modified_at, content'

type Content = Omit<Order, 'id' | 'version' | 'customer' | 'status' | 'placedAt' | 'modifiedAt'>

export function toOrder(row: OrderRow): Order {
  const content: Content = JSON.parse(row.content)
  return {
    ...content,
    id: row.id,
    version: row.version,
    ...(row.customer === null ? {} : { customer: row.customer }),
    status: row.status,
    placedAt: row.placed_at,
    modifiedAt: row.modified_at
  }
}

/** What is kept as one text: all of an order but what has a column of its own. */
export function orderContent(order: Order): string {
  const { id: _, version: _v, customer: _c, status: _s, placedAt: _p, modifiedAt: _m, ...content } = order
  return JSON.stringify(content satisfies Content)
}

export interface KeyRow {
  readonly id: string
  readonly customer: string
  readonly scopes: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly revoked_at: number | null
}

export const keyColumns = 'id, customer, scopes, created_at, expires_at, last_used_at, revoked_at'

export function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    customer: row.customer,
    scopes: JSON.parse(row.scopes),
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at })
  }
}
