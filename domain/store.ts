import type { ApiKey } from './caller.ts'
import type { Audience, EventHead, ShopEvent } from './event.ts'
import type { Decimal } from './money.ts'
import type {
  Objections,
  Order,
  OrderDocument,
  OrderStatus,
  OrderSummary,
  PurchaseOrder,
  StoredDocument,
  StoredOrderHead,
  WholeOrderDocument
} from './order.ts'
import type { Page, PageQuery } from './page.ts'
import type { Precondition } from './preconditions.ts'
import type { Product, ProductDraft, ProductName, ProductOption, Stock } from './product.ts'
import type { ImportItem, ImportOutcome } from './product-writes.ts'
import type { StatusDetails } from './seller-details.ts'
import type { Shipment, ShipmentDraft, ShipmentSummary } from './shipping.ts'
import type { WebhookStore } from './webhook-store.ts'

export interface ProductQuery extends PageQuery {
  /** Full text: finds products that have all of its words. A word of three or more letters or digits also finds longer words. */
  readonly q?: string
  readonly category?: string
  /** Milliseconds since the epoch. */
  readonly updatedSince?: number
}

/** Whether a page may have to read far more products than it returns. */
export function isSearch({ q, updatedSince }: ProductQuery): boolean {
  return q !== undefined || updatedSince !== undefined
}

export interface OrderQuery extends PageQuery {
  /** Only this customer's. */
  readonly customer?: string
  readonly status?: OrderStatus
  /** The buyer's own number. */
  readonly orderNumber?: string
  /** Milliseconds since the epoch; inclusive. */
  readonly placedSince?: number
  readonly modifiedSince?: number
  /** Default: `newest`. With `modifiedSince` and no number, orders are sorted by their last modification, otherwise by the time of placing. */
  readonly order?: 'newest' | 'oldest'
  /** Whether summaries of orders with few lines include those lines. */
  readonly lines?: boolean
}

export interface EventQuery {
  readonly audience: Audience
  readonly limit: number
  /** The id of an event: only later ones. */
  readonly after?: string
}

/** A product with what is on hand of it, which is not in its representations. */
export type StockedProduct = Product & { readonly onHand: Decimal }

/** The catalogue's revision: it rises with every change that a product representation shows. */
export interface Revision {
  readonly revision: number
  readonly modifiedAt: number
}

/** An `Idempotency-Key` in its scope, with a digest of the request that it came with. */
export interface Idempotency {
  /** The scope of the key: the customer or guests, and the URI. */
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}

export interface WriteOptions {
  /** A customer or an address. Senders take turns. Writes without a sender have one turn together. */
  readonly sender?: string
}

export interface OrderOptions extends WriteOptions {
  /** Called with the number of events that the write has made, before its promise resolves. */
  readonly onEvents?: (events: number) => void
}

/** How an order that came as a buyer's own document is written. */
export interface OrderWriteOptions extends OrderOptions {
  /** The document that the order now has. Without `bytes`, the stored bytes stay. */
  readonly document?: OrderDocument & Partial<Pick<WholeOrderDocument, 'bytes'>>
  /** Faults of the document. Any of them refuses the order. They are listed together with those that the store finds. */
  readonly objections?: Objections | undefined
  /** `dry-run`: decides everything and stores nothing. */
  readonly mode?: 'dry-run' | undefined
}

export interface ChangeOptions extends OrderWriteOptions {
  /** The most items that the changed order may have; it may have more than its document, see `decide`. Absent: no limit. */
  readonly mostItems?: number
}

/** A new state of an order that is stored. */
export interface OrderChange extends ChangeOptions {
  readonly order: PurchaseOrder
  readonly expected: Precondition
}

export interface Placing extends OrderWriteOptions {
  readonly order: PurchaseOrder
  readonly customer?: string
  readonly status: 'received' | 'accepted'
  /** `lenient`: the order takes what is available, and each of its lines has an answer. Absent: all or nothing. */
  readonly handling?: 'lenient' | undefined
  readonly idempotency?: Idempotency
  /**
   * The most bytes of a stored order that the new one may name, by its number or its Idempotency-Key. The store reads the whole stored
   * order, however small the new one is. Absent: no limit.
   */
  readonly mostNamed?: number
}

export interface StatusOptions extends OrderOptions {
  readonly details?: StatusDetails | undefined
}

export interface ShippingOptions extends OrderOptions {
  readonly idempotency?: Idempotency | undefined
}

/** `repeated`: the customer already has an active order with this number and the same content. */
export type PlacingOutcome = 'placed' | 'repeated'

/** The answer that is remembered under an Idempotency-Key. */
export interface PlacingAnswer {
  /** On replay, the order as it was in the first answer. */
  readonly order: Order
  /** On replay, the outcome of the first answer. */
  readonly outcome: PlacingOutcome
}

export interface Placed extends PlacingAnswer {
  /** Whether this repeats the answer to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
}

export interface Shipped {
  readonly shipment: Shipment
  /** Whether this repeats the answer to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
}

export interface NewApiKey {
  readonly customer: string
  readonly scopes: ApiKey['scopes']
  /** SHA-256 of the key, hexadecimal. The key itself is never stored. */
  readonly hash: string
  readonly expiresAt?: number
}

/** Versions that are read at once, without waiting. Undefined: there is no such thing, or the database is out of reach. */
export interface Versions {
  product(id: string): number | undefined
  /** The revision of the catalogue. */
  catalogue(): number | undefined
  /** A number that changes whenever anything in the database changes. Compare it only within one process. */
  database(): number | undefined
}

/**
 * Everything the shop keeps. Each verb is atomic and, when it changes something, durable before its promise resolves.
 * Every verb may throw DomainError `store-unavailable` while the database is out of reach.
 */
export interface Store extends WebhookStore {
  /** @throws `product-not-found`, `product-deleted` */
  product(id: string): Promise<Product>
  /**
   * By id, or, with `q`, in an order of the store's own that stays the same between pages. A page ends early when its products
   * reach the weight of a page: see `mostWeight` in product-list.ts.
   */
  products(query: ProductQuery): Promise<Page<Product>>
  /** The active products that have one of the codes as their id or as their GTIN, whatever its length, in no particular order. */
  productsCoded(codes: readonly string[]): Promise<readonly ProductOption[]>
  /** The first active products, by id. */
  productNames(limit: number): Promise<readonly ProductName[]>
  /** The main categories (a product's first) that any product has, each once, in the order of their bytes; the first `limit`. */
  mainCategories(limit: number): Promise<readonly string[]>
  revision(): Promise<Revision>
  /** @throws `product-exists`, `gtin-taken`, `invalid-product` */
  createProduct(id: string, draft: ProductDraft, options?: WriteOptions): Promise<Product>
  /** Creates or replaces. @throws `precondition-failed`, `gtin-taken`, `invalid-product` */
  putProduct(
    id: string,
    draft: ProductDraft,
    expected: Precondition,
    options?: WriteOptions
  ): Promise<{ product: Product; created: boolean }>
  /** @throws `product-not-found`, `product-deleted`, `precondition-failed` */
  deleteProduct(id: string, expected: Precondition, options?: WriteOptions): Promise<void>
  /**
   * Creates or replaces products by their ids, one after the other in the batch's order (an id may be there twice), in one
   * transaction. An item that is refused (`gtin-taken`, `invalid-product`) changes nothing and stops no other. Unlike
   * `putProduct` it writes only what differs: stock is compared by value, everything else to the letter. A product that is
   * the same keeps its version and time. Where only the stock differs, only the stock is set, as `putStock` does. The
   * catalogue's revision rises when any product changed.
   * @param mode `dry-run` stores nothing and returns the outcomes that this batch would have now
   * @returns the outcome of each item, in the batch's order
   */
  importProducts(batch: readonly ImportItem[], mode?: 'dry-run'): Promise<readonly ImportOutcome[]>
  /**
   * Every active product with its stock, in the order of ids (by bytes), in batches that are never empty and end at the
   * weight of a batch. Each batch holds no lock once it is returned, so that a slow reader delays no writer. A product that
   * exists throughout comes exactly once; one that is created, changed or deleted meanwhile comes as it was or as it is now.
   * Batches are read on demand; the caller stops early by leaving the loop.
   */
  allProducts(): AsyncIterable<readonly StockedProduct[]>
  /** @throws `product-not-found`, `product-deleted` */
  stock(productId: string): Promise<Stock>
  /** @throws `product-not-found`, `product-deleted`, `precondition-failed` */
  putStock(productId: string, onHand: Decimal, expected: Precondition, options?: WriteOptions): Promise<Stock>

  /** @throws `invalid-order`, `order-refused`, `order-number-taken`, `idempotency-key-reused`, LargeRead */
  placeOrder(placing: Placing): Promise<Placed>
  /** @throws `order-not-found` */
  order(id: string): Promise<Order>
  /** @throws `order-not-found` */
  orderHead(id: string): Promise<StoredOrderHead>
  /** The customer's order that has the number: the active one, or else the last that was cancelled or rejected. */
  orderHeadNumbered(customer: string, orderNumber: string): Promise<StoredOrderHead | undefined>
  /** The document that an order came from. Undefined when it came in the shop's own vocabulary. @throws `order-not-found` */
  documentOf(id: string): Promise<StoredDocument | undefined>
  /** The same with its bytes. */
  wholeDocumentOf(id: string): Promise<WholeOrderDocument | undefined>
  /** A page may be short, or empty, and still have a next one: see `orderList`. */
  orders(query: OrderQuery): Promise<Page<OrderSummary>>
  /**
   * The same list with whole orders, all of them deferred. A page ends early when their content reaches `mostContent`.
   * @param most the most bytes of content that may be read. Absent: no limit.
   * @throws LargeRead
   */
  wholeOrders(query: OrderQuery, most?: number): Promise<Page<Order>>
  /** Changes whenever a list of all orders, or of the customer's, may have changed. It reveals no count. */
  ordersRevision(customer?: string): Promise<string>
  /** @throws `order-not-found`, `precondition-failed`, `transition-refused`, and what `placeOrder` throws */
  changeOrder(id: string, order: PurchaseOrder, expected: Precondition, options?: ChangeOptions): Promise<Order>
  /**
   * Setting the status and the details that the order already has changes nothing, whatever the precondition. `shipped` makes
   * a shipment of all that is left. An order of which a part was shipped is not cancelled but `shipped`, with that part.
   * @throws `order-not-found`, `precondition-failed`, `transition-refused`, `invalid-status`
   */
  setOrderStatus(id: string, status: OrderStatus, expected: Precondition, options?: StatusOptions): Promise<Order>
  /**
   * Makes a shipment of an order. When nothing is left, the order is `shipped`.
   * @throws `order-not-found`, `precondition-failed`, `transition-refused`, `invalid-shipment`, `shipment-refused`, `idempotency-key-reused`
   */
  shipOrder(id: string, shipment: ShipmentDraft, expected: Precondition, options?: ShippingOptions): Promise<Shipped>
  /** The shipments of an order, newest first. None if there is no such order. */
  shipments(orderId: string, query: PageQuery): Promise<Page<ShipmentSummary>>
  /**
   * Undefined when the order has no such shipment.
   * @param most the most bytes of its lines that may be read. Absent: no limit.
   * @throws LargeRead
   */
  shipment(orderId: string, number: number, most?: number): Promise<Shipment | undefined>

  /**
   * The events that an audience hears, the oldest first. A reader that goes on with `after` misses none: a new event never appears
   * before one that a call has already returned. @throws PositionError if the event `after` is not kept any more
   */
  eventHeads(query: EventQuery): Promise<readonly EventHead[]>
  /** The events with the orders as they were then. An event that is not kept any more is left out. */
  events(heads: readonly EventHead[]): Promise<readonly ShopEvent[]>
  /** The newest event that an audience hears. Without an audience, the newest of all. */
  lastEvent(audience?: Audience): Promise<EventHead | undefined>
  /**
   * Deletes old events and all before them, the oldest first, up to the weight `mostPruned`. The newest event of all stays.
   * @param before milliseconds since the epoch: only older events
   * @param most the most events that are looked at
   * @returns the number of deleted events
   */
  pruneEvents(before: number, most: number): Promise<number>

  createKey(key: NewApiKey): Promise<ApiKey>
  keys(): Promise<readonly ApiKey[]>
  /** False when there is no such key, or it is already revoked. */
  revokeKey(id: string): Promise<boolean>
  /** Finds a key by its hash, even if it was revoked or has expired. */
  findKey(hash: string): Promise<ApiKey | undefined>
  /** Records when keys were last used. */
  touchKeys(uses: readonly { id: string; at: number }[]): Promise<void>

  /** Undefined where reading a version takes a query over a network. */
  readonly versions?: Versions
  /** Whether the catalogue has no product, not even a deleted one. */
  isEmpty(): Promise<boolean>
  /** Resolves when the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The name of a method of the store. */
export type StoreVerb = Exclude<keyof Store, 'versions'>
