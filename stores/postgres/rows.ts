/** Rows as PostgreSQL gives them, and the domain's values that they hold. */

import type { ApiKey, Scope } from '../../domain/caller.ts'
import { type Decimal, plain } from '../../domain/money.ts'
import type { Order, OrderStatus } from '../../domain/order.ts'
import type { Availability, Product, Stock } from '../../domain/product.ts'

/** SQL: milliseconds since the epoch, by the database's clock, which all replicas share. */
export const now = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

export interface ProductRow {
  readonly seq: number
  readonly id: string
  readonly version: number
  readonly name: string
  readonly description: string | null
  readonly price: Decimal
  readonly unit: string
  readonly gtin: string | null
  readonly categories: readonly string[]
  readonly images: readonly string[]
  readonly backorder: boolean
  readonly availability: Availability
  readonly modified_at: number
  readonly deleted: boolean
}

export const productColumns = `p.seq, p.id, p.version, p.name, p.description, p.price, p.unit, p.gtin, p.categories, p.images,
  p.backorder, p.availability, p.modified_at, p.deleted`

export function toProduct(row: Omit<ProductRow, 'seq' | 'deleted'>, currency: string): Product {
  return {
    id: row.id,
    version: row.version,
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    price: row.price,
    currency,
    unit: row.unit,
    ...(row.gtin === null ? {} : { gtin: row.gtin }),
    categories: row.categories,
    images: row.images,
    backorder: row.backorder,
    availability: row.availability,
    modifiedAt: row.modified_at
  }
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

type Content = Omit<Order, 'id' | 'version' | 'customer' | 'status' | 'placedAt' | 'modifiedAt'>

export interface OrderRow {
  readonly seq: number
  readonly id: string
  readonly version: number
  readonly customer: string | null
  readonly status: OrderStatus
  readonly placed_at: number
  readonly modified_at: number
  readonly content: Content
}

export const orderColumns = 'o.seq, o.id, o.version, o.customer, o.status, o.placed_at, o.modified_at, o.content'

export function toOrder(row: OrderRow): Order {
  return {
    ...row.content,
    id: row.id,
    version: row.version,
    ...(row.customer === null ? {} : { customer: row.customer }),
    status: row.status,
    placedAt: row.placed_at,
    modifiedAt: row.modified_at
  }
}

/** What is kept as one document: all of an order but what has a column of its own. */
export function orderContent(order: Order): string {
  const {
    id: _id,
    version: _version,
    customer: _customer,
    status: _status,
    placedAt: _placedAt,
    modifiedAt: _modifiedAt,
    ...content
  } = order
  return JSON.stringify(content satisfies Content)
}

export interface KeyRow {
  readonly id: string
  readonly customer: string
  readonly scopes: readonly Scope[]
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
    scopes: row.scopes,
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at })
  }
}
