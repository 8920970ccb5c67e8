import type { Decimal } from './money.ts'

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

export interface PurchaseOrderItem {
  readonly product: ProductReference
  readonly quantity: Decimal
  readonly unit?: string
  /** The price that the buyer expects. The order is refused if the shop's price differs. */
  readonly unitPrice?: Decimal
  readonly notes: readonly string[]
}

/** A purchase order as a buyer sends it. */
export interface PurchaseOrder extends OrderHeader {
  readonly items: readonly PurchaseOrderItem[]
}

/** An item as it was ordered: name, unit and price are snapshots that no catalogue change touches. */
export interface OrderItem {
  readonly line: number
  readonly productId: string
  /** The GTIN the buyer ordered by, if any; it may since belong to another product. */
  readonly gtin?: string
  readonly name: string
  readonly quantity: Decimal
  readonly unit: string
  readonly unitPrice: Decimal
  readonly lineTotal: Decimal
  readonly notes: readonly string[]
}

export const orderStatuses = ['received', 'accepted', 'rejected', 'shipped', 'completed', 'cancelled'] as const
export type OrderStatus = (typeof orderStatuses)[number]

export interface Order extends OrderHeader {
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

export type OrderLine = Pick<OrderItem, 'productId' | 'name' | 'quantity' | 'unit'>

/** An order as a list shows it. It costs the same however many lines the order has. */
export interface OrderSummary
  extends Pick<Order, 'id' | 'version' | 'customer' | 'orderNumber' | 'status' | 'currency' | 'total' | 'placedAt' | 'modifiedAt'> {
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

export function nextStatuses(status: OrderStatus): readonly OrderStatus[] {
  return transitions[status]
}

/** Whether the lines of an order can still be changed: only before it ships. */
export function isOpen(status: OrderStatus): boolean {
  return status === 'received' || status === 'accepted'
}

/** A cancelled or rejected order has given its stock back. */
export function holdsStock(status: OrderStatus): boolean {
  return status !== 'cancelled' && status !== 'rejected'
}
