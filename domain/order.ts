import { defined } from './defined.ts'
import type { Fault } from './errors.ts'
import type { LineAnswer } from './line-answers.ts'
import { compare, type Decimal } from './money.ts'

export interface Address {
  readonly street?: string
  readonly additionalStreet?: string
  readonly city?: string
  readonly postalCode?: string
  readonly region?: string
  /** ISO 3166-1 alpha-2. */
  readonly country?: string
}

export interface Party {
  readonly name?: string
  /** The person to ask for. */
  readonly contact?: string
  readonly email?: string
  readonly phone?: string
  readonly taxId?: string
  readonly address?: Address
}

export interface Extension {
  readonly name: string
  readonly value: string
}

/** Everything in an order but its items. */
export interface OrderHeader {
  readonly orderNumber?: string
  /** `YYYY-MM-DD` (xs:date), as given. */
  readonly issueDate?: string
  readonly currency?: string
  readonly buyer?: Party
  readonly shipTo?: Party
  readonly billTo?: Party
  readonly requestedDeliveryDate?: string
  readonly notes: readonly string[]
  readonly extensions: readonly Extension[]
}

export type ProductReference = { readonly productId: string } | { readonly gtin: string }

/** The buyer's details of a line besides its product, quantity and price. An order keeps them as they were sent. */
export interface LineDetails {
  /** The buyer's own number for the line. */
  readonly lineId?: string
  /** `YYYY-MM-DD` (xs:date), as given. */
  readonly requestedDeliveryDate?: string
  readonly notes: readonly string[]
  /** Absent when there are none. */
  readonly extensions?: readonly Extension[]
}

/** The details of a line without its other properties. */
export function detailsOf({ lineId, requestedDeliveryDate, notes, extensions }: LineDetails): LineDetails {
  return defined({ lineId, requestedDeliveryDate, notes, extensions } satisfies Record<keyof LineDetails, unknown>)
}

function hasNoDetails(line: LineDetails): boolean {
  const { notes, ...others } = detailsOf(line)
  return notes.length === 0 && Object.keys(others).length === 0
}

/** The price that a buyer's own document expects: `amount` for `base` units. */
export interface QuotedPrice {
  readonly amount: Decimal
  readonly base: Decimal
  /** Units of the base in one unit of the order (cXML's conversionFactor). Absent: 1. */
  readonly factor?: Decimal
}

/** Terms of a line of a buyer's own document (UBL, cXML) that the shop completes when it knows the product. */
export interface QuotedTerms {
  /** Further names of the product, such as its GTIN beside the seller's id. Those that are unknown do not count. */
  readonly alsoNamed: readonly ProductReference[]
  /** Codes that all mean the unit of the line, the sender's first. */
  readonly units: readonly string[]
  readonly price?: QuotedPrice
  /** The line names no product. The order's objections say so, or the line changes one that has a product. */
  readonly isUnnamed?: true
  /** The line has no usable quantity. The order's objections say so, or the line changes one that has a quantity. */
  readonly isUncounted?: true
}

export interface PurchaseOrderItem extends LineDetails {
  readonly product: ProductReference
  /** The item's position in its document, if items before it were left out. Absent: its position in the order. */
  readonly position?: number
  /** Only of a buyer's own document. The item then has no `unit` and no `unitPrice`. */
  readonly quoted?: QuotedTerms
  readonly quantity: Decimal
  readonly unit?: string
  /** The price that the buyer expects. The order is refused if the shop's price differs. */
  readonly unitPrice?: Decimal
}

/** A purchase order as a buyer sends it. */
export interface PurchaseOrder extends OrderHeader {
  readonly items: readonly PurchaseOrderItem[]
  /** The order came as a document in a buyer's vocabulary, which is stored with it. */
  readonly hasDocument?: true
  /** Faults of a buyer's own document. They are listed together with those that the shop finds. The store sets them from its options. */
  readonly objections?: Objections
}

/** A document in a buyer's vocabulary (UBL, cXML) that an order came from. */
export interface OrderDocument {
  /** The media type that it was sent with. */
  readonly mediaType: string
  /** SHA-256 of the bytes as they were sent, hexadecimal. */
  readonly digest: string
  /** The buyer's number of the last change. A change with a number that is not above it is outdated. */
  readonly revision?: string
  /** The parts of the document that answers in its vocabulary repeat. Only dialects/ knows them. */
  readonly answer: object
}

export interface StoredDocument extends OrderDocument {
  /** Bytes of the whole document. */
  readonly size: number
}

export interface WholeOrderDocument extends OrderDocument {
  /** The document as it was sent, except for its secrets. It can have megabytes. */
  readonly bytes: Uint8Array
}

/** `invalid`: the document can never be placed as it is. `refused`: the shop does not agree to it. */
export interface Objections {
  readonly invalid: readonly Fault[]
  readonly refused: readonly Fault[]
}

/** The most notes, and the most extensions, of an order or an item. */
export const mostTexts = 100

/** All names of an order's products. */
export function namedProducts({ items }: Pick<PurchaseOrder, 'items'>): readonly ProductReference[] {
  return items.flatMap(({ product, quoted }) => (quoted ? [product, ...quoted.alsoNamed] : [product]))
}

/** The seller's details of an order or one of its lines, for the buyer. */
export interface SellerDetails {
  /** `YYYY-MM-DD` (xs:date), as given. */
  readonly expectedDeliveryDate?: string
  readonly sellerNote?: string
}

/** The seller's details without the other properties of an order or a line. */
export function sellerDetailsOf({ expectedDeliveryDate, sellerNote }: SellerDetails): SellerDetails {
  return defined({ expectedDeliveryDate, sellerNote })
}

/** An item as it was ordered: name, unit and price are snapshots that no catalogue change touches. */
export interface OrderItem extends LineDetails, SellerDetails, LineAnswer {
  readonly line: number
  readonly productId: string
  /** The GTIN the buyer ordered by, if any; it may since belong to another product. */
  readonly gtin?: string
  readonly name: string
  readonly quantity: Decimal
  readonly unit: string
  readonly unitPrice: Decimal
  readonly lineTotal: Decimal
  /** Absent while nothing of the line was shipped. */
  readonly shippedQuantity?: Decimal
}

/** Whether an item can be a later part of the line of the item before it, at another price. Only the first part has the line's details. */
export function continuesLine(before: OrderItem, item: OrderItem): boolean {
  return item.productId === before.productId && compare(item.unitPrice, before.unitPrice) !== 0 && hasNoDetails(item)
}

export const orderStatuses = ['received', 'accepted', 'rejected', 'shipped', 'completed', 'cancelled'] as const
export type OrderStatus = (typeof orderStatuses)[number]

export interface Order extends OrderHeader, SellerDetails {
  readonly hasDocument?: true
  /** The number of its shipments, which is also the number of the last one. Absent: none. */
  readonly shipmentCount?: number
  /** The order was cancelled after a part of it had been shipped, and kept that part. */
  readonly isRestCancelled?: true
  readonly id: string
  readonly version: number
  readonly customer?: string
  readonly status: OrderStatus
  readonly currency: string
  readonly items: readonly OrderItem[]
  readonly total: Decimal
  /** Milliseconds since the epoch. */
  readonly placedAt: number
  readonly modifiedAt: number
}

/** The properties of an order that are read without its content, which can have megabytes. */
export type OrderHead = Pick<Order, 'id' | 'version' | 'customer' | 'orderNumber' | 'status' | 'placedAt' | 'modifiedAt'>

export interface StoredOrderHead extends OrderHead {
  /** Bytes of the rest of the order as JSON. */
  readonly size: number
}

export type OrderLine = Pick<OrderItem, 'productId' | 'name' | 'quantity' | 'unit'>

/** An order as a list shows it. It costs the same however many lines the order has. */
export interface OrderSummary extends OrderHead, Pick<Order, 'currency' | 'total' | 'shipmentCount'> {
  readonly itemCount: number
  readonly buyerName?: string
  /** Present when the query asks for lines and the order has `mostSummarised` or fewer. */
  readonly lines?: readonly OrderLine[]
}

/** An order with more lines than this has a summary without lines. */
export const mostSummarised = 20

const transitions: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  received: ['accepted', 'rejected', 'cancelled'],
  accepted: ['shipped', 'cancelled'],
  shipped: ['completed'],
  rejected: [],
  completed: [],
  cancelled: []
}

/** The transitions in words: `received → accepted or rejected or cancelled; …`. */
export const transitionText = orderStatuses
  .filter((status) => transitions[status].length > 0)
  .map((status) => `${status} → ${transitions[status].join(' or ')}`)
  .join('; ')

/** The status of a new order. It waits for the seller only where the seller accepts orders by hand. */
export function firstStatus(acceptance: 'auto' | 'manual'): 'received' | 'accepted' {
  return acceptance === 'manual' ? 'received' : 'accepted'
}

export function nextStatuses(status: OrderStatus): readonly OrderStatus[] {
  return transitions[status]
}

export function canBecome(from: OrderStatus, to: OrderStatus): boolean {
  return transitions[from].includes(to)
}

/** Whether the lines of an order can still be changed: only before it ships. */
export function isOpen(status: OrderStatus): boolean {
  return status === 'received' || status === 'accepted'
}

/** An active order holds its stock and its order number. A cancelled or rejected one has given back both. */
export function isActive(status: OrderStatus): boolean {
  return status !== 'cancelled' && status !== 'rejected'
}

/** Whether an order that was just cancelled keeps a part that had been shipped before. Then its status is not `cancelled`. */
export function keepsShippedPart({ status }: Pick<Order, 'status'>): boolean {
  return isActive(status)
}
