/** Makers of drafts and orders for tests: valid as they are, with only what a test is about said by the test. */

import { setImmediate } from 'node:timers/promises'
import { type Decimal, decimal } from '../../domain/money.ts'
import type { Order, PurchaseOrder, PurchaseOrderItem } from '../../domain/order.ts'
import type { ProductDraft } from '../../domain/product.ts'
import type { Placing, Store } from '../../domain/store.ts'

export const shopCurrency = 'EUR'

/** Waits until the clock shows another time, so that what is written next is later than all that was. */
export async function untilLater(): Promise<void> {
  for (const now = Date.now(); Date.now() === now; ) await setImmediate()
}

export function draft(more: Partial<ProductDraft> = {}): ProductDraft {
  return { name: 'Hammer', price: decimal('9.99'), unit: 'C62', categories: [], images: [], backorder: false, ...more }
}

/** A draft with so much on hand. */
export function stocked(onHand: string | number, more: Partial<ProductDraft> = {}): ProductDraft {
  return draft({ onHand: decimal(String(onHand)), ...more })
}

export function item(productId: string, quantity: string | number = 1, more: Partial<PurchaseOrderItem> = {}): PurchaseOrderItem {
  return { product: { productId }, quantity: decimal(String(quantity)), notes: [], ...more }
}

export function purchase(items: readonly PurchaseOrderItem[], more: Partial<PurchaseOrder> = {}): PurchaseOrder {
  return { notes: [], extensions: [], items, ...more }
}

/** One line of one product, for a guest, accepted at once. */
export function placing(productId: string, quantity: string | number = 1, more: Partial<Placing> = {}): Placing {
  return { order: purchase([item(productId, quantity)]), status: 'accepted', ...more }
}

/** Every item of a collection, page by page. */
export async function everything<T>(page: (after: { after?: string }) => Promise<{ items: readonly T[]; next?: string }>): Promise<T[]> {
  const all: T[] = []
  let after: { after?: string } = {}
  for (;;) {
    const { items, next } = await page(after)
    all.push(...items)
    if (next === undefined) return all
    after = { after: next }
  }
}

/** The ids of the products that a query finds, sorted. */
export async function found(store: Store, query: { q?: string; category?: string; updatedSince?: number }): Promise<string[]> {
  const products = await everything((after) => store.products({ limit: 2, ...query, ...after }))
  return products.map(({ id }) => id).sort()
}

/** Every order, whole. */
export async function everyOrder(store: Store): Promise<Order[]> {
  const summaries = await everything((after) => store.orders({ limit: 500, ...after }))
  const orders: Order[] = []
  // One after the other: on a busy machine a few hundred at once would wait longer for a connection than the pool lets them.
  for (const { id } of summaries) orders.push(await store.order(id))
  return orders
}

export async function onHand(store: Store, productId: string): Promise<Decimal> {
  return (await store.stock(productId)).onHand
}

/** A full purchase order: every element that the vocabulary has. */
export function fullPurchase(items: readonly PurchaseOrderItem[]): PurchaseOrder {
  const address = { street: 'Am Markt 1', additionalStreet: 'Hof 2', city: 'Köln', postalCode: '50667', region: 'NW', country: 'DE' }
  const buyer = { name: 'Möbel & Söhne <GmbH>', email: 'a@example.org', phone: '+49 221 1', taxId: 'DE123', address }
  return {
    orderNumber: 'PO-1',
    issueDate: '2026-11-20',
    currency: shopCurrency,
    buyer,
    shipTo: { name: 'Lager', address },
    billTo: buyer,
    requestedDeliveryDate: '2026-12-01',
    notes: ['  spaces kept \n', '\u{1f600}'],
    extensions: [{ name: 'cost-centre', value: '4711' }],
    items
  }
}
