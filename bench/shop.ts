/** A shop to measure: the real application on a loopback port with a real database, and the requests of its clients. */

import type { AddressInfo } from 'node:net'
import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { decimal } from '../domain/money.ts'
import type { PurchaseOrder } from '../domain/order.ts'
import type { ProductDraft } from '../domain/product.ts'
import type { Placing, Store } from '../domain/store.ts'
import { hashKey } from '../http/credentials.ts'
import { openWithWriter } from '../stores/sqlite/store.ts'
import { sharedDocuments } from '../test/documents/shared.ts'
import { pick } from './measure.ts'

export const currency = 'EUR'

/** @param groupCommit false means one transaction per order */
export async function openFile(path: string, groupCommit = true): Promise<Store> {
  const { store } = await openWithWriter({ path, currency, groupCommit })
  return store
}

export interface Served {
  readonly port: number
  /** Closes the store too. */
  close(): Promise<void>
}

/** Serves a store as `npm start` does, but without a log and without a rate limit for an address. */
export async function serve(store: Store, overrides: Readonly<Record<string, string>> = {}): Promise<Served> {
  const config = readConfig({ LOG_LEVEL: 'silent', RATE_LIMIT: 'off', OVERLOAD_DELAY: 'off', CURRENCY: currency, ...overrides })
  const app = await buildApp({ config, store, documents: sharedDocuments, release: 'bench' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
}

/** The products that the orders of the benches are for. */
export const productIds: readonly string[] = Array.from({ length: 1_000 }, (_, i) => `BENCH-${i}`)

/** Stores the products that `purchase` orders, with stock that does not run out. @returns their ids */
export async function putStockedProducts(store: Store): Promise<readonly string[]> {
  const draft: ProductDraft = {
    name: 'Hex bolt M8 × 40, zinc plated',
    description: 'Steel, strength class 8.8, full thread, DIN 933. '.repeat(4),
    price: decimal('9.99'),
    unit: 'C62',
    categories: ['Fasteners'],
    images: [],
    backorder: false,
    onHand: decimal('900000000')
  }
  await Promise.all(productIds.map((id) => store.putProduct(id, draft, {})))
  return productIds
}

/** The credentials of the key that `createSellerKey` makes. */
export const authorization = `Bearer tp_${'k'.repeat(32)}`

/** Stores a key that may read all orders and events. */
export async function createSellerKey(store: Store): Promise<void> {
  await store.createKey({ customer: 'ERP', scopes: ['fulfilment'], hash: hashKey(authorization.slice('Bearer '.length)) })
}

const address = { street: 'Am Markt 1', city: 'Köln', postalCode: '50667', country: 'DE' }
const buyer = { name: 'Möbel & Söhne GmbH', email: 'einkauf@example.org', address }

/** A purchase order of one to five lines with different products. */
function purchase(next: () => number): PurchaseOrder {
  const ids = new Set(Array.from({ length: 1 + Math.floor(5 * next()) }, () => pick(next, productIds)))
  const items = [...ids].map((productId) => ({ product: { productId }, quantity: decimal(String(1 + Math.floor(9 * next()))), notes: [] }))
  return { buyer, notes: [], extensions: [], items }
}

export function placing(next: () => number): Placing {
  return { order: purchase(next), status: 'accepted' }
}

/** A POST request with a random purchase order. */
export function postOrder(next: () => number): string {
  const items = purchase(next).items.map(
    ({ product, quantity }) =>
      `<item><product-id>${'productId' in product ? product.productId : ''}</product-id><quantity>${quantity}</quantity></item>`
  )
  const { street, city, postalCode, country } = address
  const place = `<address><street>${street}</street><city>${city}</city><postal-code>${postalCode}</postal-code><country>${country}</country></address>`
  const party = `<buyer><name>${buyer.name.replace('&', '&amp;')}</name><email>${buyer.email}</email>${place}</buyer>`
  return post('application/xml', `<purchase-order>${party}${items.join('')}</purchase-order>`)
}

/** A request that posts an order. */
export function post(type: string, body: string): string {
  return `POST /order HTTP/1.1\r\nHost: shop\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** @param sent the entity tag that the client knows, and its credentials */
export function get(
  path: string,
  sent: { readonly tag?: string | undefined; readonly authorization?: string; readonly accept?: string } = {}
): string {
  const fields = { Host: 'shop', 'If-None-Match': sent.tag, Authorization: sent.authorization, Accept: sent.accept }
  const lines = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]))
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** The current entity tag of a resource. */
export async function tagOf({ port }: Served, path: string, authorization?: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, authorization === undefined ? {} : { headers: { authorization } })
  const tag = response.headers.get('etag')
  if (response.status !== 200 || tag === null) throw new Error(`${path} was answered with ${response.status} and the entity tag ${tag}`)
  await response.arrayBuffer()
  return tag
}
