/** Converts the columns that both databases share to and from domain values. */

import { randomBytes } from 'node:crypto'
import type { ApiKey } from '../domain/caller.ts'
import { defer, includesText, isLarge, type JsonText, type Known, parseText, withProperties } from '../domain/deferred.ts'
import { acceptedItems } from '../domain/line-answers.ts'
import type { Decimal } from '../domain/money.ts'
import {
  isActive,
  mostSummarised,
  type Order,
  type OrderHead,
  type OrderLine,
  type OrderStatus,
  type OrderSummary,
  orderStatuses,
  type StoredOrderHead
} from '../domain/order.ts'
import type { Availability, Product, ProductOption } from '../domain/product.ts'

export interface CommonProductRow {
  readonly id: string
  readonly version: number
  readonly name: string
  readonly description: string | null
  readonly price: Decimal
  readonly unit: string
  readonly minimum_quantity: Decimal | null
  readonly quantity_step: Decimal | null
  readonly gtin: string | null
  readonly availability: Availability
  readonly modified_at: number
}

/** The columns of a product that decisions about orders need. */
export type CommonStockItemRow = Omit<CommonProductRow, 'version' | 'description' | 'modified_at'> & { readonly seq: number }

/** The columns of a CommonStockItemRow, and those that only a stock ledger needs. */
export const stockItemColumns = `p.seq, p.id, p.version, p.name, p.price, p.unit, p.minimum_quantity, p.quantity_step, p.gtin, p.backorder,
  p.availability, p.deleted`

export const productColumns = `p.seq, p.id, p.version, p.name, p.description, p.price, p.unit, p.minimum_quantity, p.quantity_step,
  p.gtin, p.categories, p.images, p.backorder, p.availability, p.modified_at, p.deleted`

/** The columns of a product that the lines of a form need. */
export type OptionRow = Pick<
  CommonProductRow,
  'id' | 'name' | 'price' | 'unit' | 'minimum_quantity' | 'quantity_step' | 'gtin' | 'availability'
>

export const optionColumns = 'id, name, price, unit, minimum_quantity, quantity_step, gtin, availability'

export function optionOf(row: OptionRow): ProductOption {
  const { id, name, price, unit, gtin, availability } = row
  return { id, name, price, unit, availability, ...quantityRuleOf(row), ...(gtin === null ? {} : { gtin }) }
}

/** The quantity rule of a product. */
export function quantityRuleOf({
  minimum_quantity: minimumQuantity,
  quantity_step: quantityStep
}: Pick<CommonProductRow, 'minimum_quantity' | 'quantity_step'>): Pick<Product, 'minimumQuantity' | 'quantityStep'> {
  return { ...(minimumQuantity === null ? {} : { minimumQuantity }), ...(quantityStep === null ? {} : { quantityStep }) }
}

/** @param rest the values that the databases store differently */
export function productOf(row: CommonProductRow, rest: Pick<Product, 'currency' | 'categories' | 'images' | 'backorder'>): Product {
  const product: { -readonly [Key in keyof Product]: Product[Key] } = {
    id: row.id,
    version: row.version,
    name: row.name,
    price: row.price,
    currency: rest.currency,
    unit: row.unit,
    categories: rest.categories,
    images: rest.images,
    backorder: rest.backorder,
    availability: row.availability,
    modifiedAt: row.modified_at
  }
  if (row.description !== null) product.description = row.description
  if (row.minimum_quantity !== null) product.minimumQuantity = row.minimum_quantity
  if (row.quantity_step !== null) product.quantityStep = row.quantity_step
  if (row.gtin !== null) product.gtin = row.gtin
  return product
}

/** The reverse of `productOf`. */
export function columnsOf(product: Product): CommonProductRow {
  return {
    id: product.id,
    version: product.version,
    name: product.name,
    description: product.description ?? null,
    price: product.price,
    unit: product.unit,
    minimum_quantity: product.minimumQuantity ?? null,
    quantity_step: product.quantityStep ?? null,
    gtin: product.gtin ?? null,
    availability: product.availability,
    modified_at: product.modifiedAt
  }
}

export interface CommonOrderRow {
  readonly seq: number
  readonly id: string
  readonly version: number
  readonly customer: string | null
  readonly order_number: string | null
  readonly status: OrderStatus
  readonly placed_at: number
  readonly modified_at: number
}

/** The columns of a CommonOrderRow. */
export const orderHeadColumns = 'o.seq, o.id, o.version, o.customer, o.order_number, o.status, o.placed_at, o.modified_at'

/** The row of an order without its content. */
export interface SizedOrderRow extends CommonOrderRow {
  /** Bytes. */
  readonly content_size: number
}

/** An order without the properties that have columns of their own. */
export type OrderContent = Omit<Order, 'id' | 'version' | 'customer' | 'status' | 'placedAt' | 'modifiedAt'>

export function orderOf(row: Omit<CommonOrderRow, 'order_number'>, content: OrderContent): Order {
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

function orderHeadOf(row: CommonOrderRow): OrderHead {
  return {
    id: row.id,
    version: row.version,
    ...(row.customer === null ? {} : { customer: row.customer }),
    ...(row.order_number === null ? {} : { orderNumber: row.order_number }),
    status: row.status,
    placedAt: row.placed_at,
    modifiedAt: row.modified_at
  }
}

export function storedOrderHeadOf(row: SizedOrderRow): StoredOrderHead {
  return { ...orderHeadOf(row), size: row.content_size }
}

/** An SQL condition: the database has prices. */
export const anyPrice = 'EXISTS (SELECT 1 FROM product) OR EXISTS (SELECT 1 FROM purchase_order)'

/** SQL: the statuses of orders that are not active. It has the text of the partial indexes, or SQLite would not use them. */
export const inactiveStatuses = orderStatuses
  .filter((status) => !isActive(status))
  .map((status) => `'${status}'`)
  .sort()
  .join(', ')

/** The properties of an order that are only in its content column. */
type ContentOnly = Pick<Order, 'items' | 'currency' | 'total' | 'notes' | 'extensions'>

/** The properties of an order that the serving thread can read without parsing the order. */
export function knownOf({
  id,
  version,
  customer,
  orderNumber,
  status,
  placedAt,
  modifiedAt,
  hasDocument
}: Omit<Order, keyof ContentOnly>): Known<Order> {
  return { id, version, customer, orderNumber, status, placedAt, modifiedAt, hasDocument }
}

/** Finds the property without parsing: inside a JSON string, these quotes would have backslashes. */
function hasDocument(content: JsonText): Pick<Order, 'hasDocument'> {
  return includesText(content, '"hasDocument":true') ? { hasDocument: true } : {}
}

/** @param content the text from `orderContent`. Large content is parsed only when it is first read. */
export function orderFrom(row: CommonOrderRow | EarlierOrderRow, content: JsonText): Order {
  return isLarge(content) ? deferredOrder(row, content) : orderOf(row, parseText(content))
}

/** The columns of an order at an earlier time. The number that it had then is only in its content. */
export type EarlierOrderRow = Omit<CommonOrderRow, 'order_number'> & { readonly order_number?: undefined }

/** @param content the text from `orderContent`, of any size */
export function deferredOrder(row: CommonOrderRow | EarlierOrderRow, content: JsonText): Order {
  const columns = orderOf(row, {} as OrderContent)
  const { orderNumber: _, ...known } = knownOf({ ...columns, ...hasDocument(content) })
  const numbered = row.order_number === undefined ? {} : { orderNumber: row.order_number ?? undefined }
  return defer<Order>(withProperties(columns, content), { ...known, ...numbered })
}

/** The columns of an order that lists show. */
export interface SummaryColumns {
  readonly item_count: number
  readonly currency: string
  readonly total: Decimal
  readonly buyer_name: string | null
  /** JSON. */
  readonly lines: string | null
}

export type SummaryRow = CommonOrderRow & SummaryColumns & { readonly shipment_count: number | null }

/**
 * SQL for the `shipment_count` of an order `o`. Shipments are numbered from 1, and their key ends with the number.
 * @param isOfOrder the condition of the shipments of the order. It names the table of each column: a column that `shipment` does not have would
 * be that of the order without it, and all shipments would be the order's
 */
export function shipmentCountOf(isOfOrder: string): string {
  return `(SELECT max(number) FROM shipment WHERE ${isOfOrder}) AS shipment_count`
}

export function summaryOf({ items, currency, total, buyer }: Order): SummaryColumns {
  const lines = acceptedItems(items).map(({ productId, name, quantity, unit }): OrderLine => ({ productId, name, quantity, unit }))
  return {
    item_count: items.length,
    currency,
    total,
    buyer_name: buyer?.name ?? null,
    lines: lines.length > mostSummarised ? null : JSON.stringify(lines)
  }
}

export function summaryFrom(row: SummaryRow): OrderSummary {
  return {
    ...orderHeadOf(row),
    ...(row.buyer_name === null ? {} : { buyerName: row.buyer_name }),
    itemCount: row.item_count,
    currency: row.currency,
    total: row.total,
    ...(row.shipment_count === null ? {} : { shipmentCount: row.shipment_count }),
    ...(row.lines === null ? {} : { lines: JSON.parse(row.lines) })
  }
}

/** The value of an order's content column. */
export function orderContent(order: Order): string {
  const { id: _, version: _v, customer: _c, status: _s, placedAt: _p, modifiedAt: _m, ...content } = order
  return JSON.stringify(content satisfies OrderContent)
}

export interface CommonKeyRow {
  readonly id: string
  readonly customer: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly revoked_at: number | null
}

/** An id for a new key. It is shown, and is no secret. */
export function newKeyId(): string {
  return `k_${randomBytes(6).toString('hex')}`
}

export const keyColumns = 'id, customer, scopes, created_at, expires_at, last_used_at, revoked_at'

export function keyOf(row: CommonKeyRow, scopes: ApiKey['scopes']): ApiKey {
  return {
    id: row.id,
    customer: row.customer,
    scopes,
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at })
  }
}
