import type { ApiKey } from './caller.ts'
import type { DomainError } from './errors.ts'
import type { Decimal } from './money.ts'
import type { Order, OrderStatus, OrderSummary, PurchaseOrder } from './order.ts'
import type { Product, ProductDraft, Stock } from './product.ts'

/**
 * What a write expects to find, checked in the same step as the write. Both absent: anything.
 * A write whose expectation fails throws `precondition-failed` and changes nothing.
 */
export interface Precondition {
  /** The version that the caller read. */
  readonly version?: number
  /** Whether there must be something (`If-Match: *`) or nothing (`If-None-Match: *`). */
  readonly exists?: boolean
}

export interface PageQuery {
  readonly limit: number
  /** Where the page before ended, as `Page.next` gave it. Anything else may be refused by PositionError. */
  readonly after?: string
}

export interface ProductQuery extends PageQuery {
  /** Full text: products that have all of its words. A word of three or more letters or digits may be only how theirs begins. */
  readonly q?: string
  readonly category?: string
  /** Milliseconds since the epoch. */
  readonly updatedSince?: number
}

/** Whether a page may look at far more products than it has. */
export function isSearch({ q, updatedSince }: ProductQuery): boolean {
  return q !== undefined || updatedSince !== undefined
}

export interface OrderQuery extends PageQuery {
  /** Only this customer's. */
  readonly customer?: string
  readonly status?: OrderStatus
  /** Whether to say also what the lines of orders with few are of. */
  readonly lines?: boolean
}

export interface Page<T> {
  readonly items: readonly T[]
  /** The position of the last item, when more follow. Keyset: inserts and deletes between pages shift nothing. */
  readonly next?: string
}

/** One product of a file that is imported. */
export interface ImportItem {
  readonly id: string
  readonly draft: ProductDraft
}

/** Why one item was not stored: a DomainError, or one as plain data. */
export type Refusal = Pick<DomainError, 'code' | 'message' | 'faults'>

/**
 * What an import did with one item. `created`: there was no such product, or it had been deleted. `replaced`: the product
 * or its stock was another. `unchanged`: both are as the item has them, and nothing was written.
 */
export type ImportOutcome = 'created' | 'replaced' | 'unchanged' | Refusal

/** A product with what is on hand of it, which is not in its representations. */
export type StockedProduct = Product & { readonly onHand: Decimal }

/** Of the whole catalogue: rises with every change that any product representation shows. */
export interface Revision {
  readonly revision: number
  readonly modifiedAt: number
}

/** An `Idempotency-Key` in its scope, with a digest of the request that it came with. */
export interface Idempotency {
  /** Who and where: the customer or guests, and the URI. */
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}

export interface Placing {
  readonly order: PurchaseOrder
  readonly customer?: string
  readonly status: 'received' | 'accepted'
  readonly idempotency?: Idempotency
}

/** `repeated`: the customer's order number stands with the same content. */
export type PlacingOutcome = 'placed' | 'repeated'

/** What an Idempotency-Key is remembered with. */
export interface PlacingAnswer {
  /** When replayed: the order as it was in the first answer. */
  readonly order: Order
  /** When replayed: that of the first answer. */
  readonly outcome: PlacingOutcome
}

export interface Placed extends PlacingAnswer {
  /** Whether this was done before, under the same Idempotency-Key. */
  readonly replayed: boolean
}

export interface NewApiKey {
  readonly customer: string
  readonly scopes: ApiKey['scopes']
  /** SHA-256 of the key, hexadecimal. The key itself is never stored. */
  readonly hash: string
  readonly expiresAt?: number
}

/**
 * Everything the shop keeps. Each verb is atomic and, when it changes something, durable before its promise resolves.
 * Every verb may throw DomainError `store-unavailable` while the database is out of reach.
 */
export interface Store {
  /** @throws `product-not-found`, `product-deleted` */
  product(id: string): Promise<Product>
  /** By id, or, with `q`, in an order of the store's own that stays the same between pages. */
  products(query: ProductQuery): Promise<Page<Product>>
  /** The main categories (a product's first) that any product has, each once, in the order of their bytes; the first `limit`. */
  mainCategories(limit: number): Promise<readonly string[]>
  revision(): Promise<Revision>
  /** @throws `product-exists`, `gtin-taken` */
  createProduct(id: string, draft: ProductDraft): Promise<Product>
  /** Creates or replaces. @throws `precondition-failed`, `gtin-taken` */
  putProduct(id: string, draft: ProductDraft, expected: Precondition): Promise<{ product: Product; created: boolean }>
  /** @throws `product-not-found`, `product-deleted`, `precondition-failed` */
  deleteProduct(id: string, expected: Precondition): Promise<void>
  /**
   * Creates or replaces products by their ids, one after the other in the batch's order (an id may be there twice), in one
   * transaction. An item that is refused (`gtin-taken`, `invalid-product`) changes nothing and stops no other. Unlike
   * `putProduct` it writes only what differs, decimals of stock by value and all else to the letter: a product that says
   * the same keeps its version and time, and where only the stock differs only that is set, as `putStock` does. The
   * catalogue's revision rises when any product changed.
   * @param mode with `rehearse` nothing of it stays: the outcomes are those that this batch would have now
   * @returns the outcome of each item, in the batch's order
   */
  importProducts(batch: readonly ImportItem[], mode?: 'rehearse'): Promise<readonly ImportOutcome[]>
  /**
   * Every product there is with its stock, in the order of ids (by bytes), in batches, none of which is empty. Each batch
   * is of one moment and no longer kept from writers once it is given: a reader that is slow holds nothing up. A product
   * that is there throughout comes exactly once; one that is created, changed or deleted meanwhile comes as it was or as
   * it is now. Nothing is read ahead of the batch that is asked for, and to stop early is to return from the loop.
   */
  allProducts(): AsyncIterable<readonly StockedProduct[]>
  /** @throws `product-not-found`, `product-deleted` */
  stock(productId: string): Promise<Stock>
  /** @throws `product-not-found`, `product-deleted`, `precondition-failed` */
  putStock(productId: string, onHand: Decimal, expected: Precondition): Promise<Stock>

  /** @throws `invalid-order`, `order-refused`, `order-number-taken`, `idempotency-key-reused` */
  placeOrder(placing: Placing): Promise<Placed>
  /** @throws `order-not-found` */
  order(id: string): Promise<Order>
  /** Newest first. */
  orders(query: OrderQuery): Promise<Page<OrderSummary>>
  /**
   * @param mostItems the most items that it may come to; it may have more than its document, see `decide`
   * @throws `order-not-found`, `precondition-failed`, `transition-refused`, and what `placeOrder` throws
   */
  changeOrder(id: string, order: PurchaseOrder, expected: Precondition, mostItems?: number): Promise<Order>
  /** The status that it has already changes nothing. @throws `order-not-found`, `precondition-failed`, `transition-refused` */
  setOrderStatus(id: string, status: OrderStatus, expected: Precondition): Promise<Order>

  createKey(key: NewApiKey): Promise<ApiKey>
  keys(): Promise<readonly ApiKey[]>
  /** False when there is no such key, or it was revoked before. */
  revokeKey(id: string): Promise<boolean>
  /** By its hash, revoked and expired ones included. */
  findKey(hash: string): Promise<ApiKey | undefined>
  /** Records when keys were last used. */
  touchKeys(uses: readonly { id: string; at: number }[]): Promise<void>

  /** Whether the catalogue was never written to: no product, not even a deleted one. */
  isEmpty(): Promise<boolean>
  /** Resolves when the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}
