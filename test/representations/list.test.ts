import t, { type Test } from 'tap'
import { guest } from '../../domain/caller.ts'
import type { ShopEvent } from '../../domain/event.ts'
import { decimal } from '../../domain/money.ts'
import type { OrderSummary } from '../../domain/order.ts'
import type { Product } from '../../domain/product.ts'
import { eventElement, eventsRepresentations } from '../../representations/events.ts'
import { linkElement } from '../../representations/links.ts'
import { ordersRepresentations } from '../../representations/orders.ts'
import { itemsOfPiece, weightOfPiece } from '../../representations/pieces.ts'
import { productElement, productsRepresentations } from '../../representations/product.ts'
import { type Context, type Representation, type Representations, variantOf } from '../../representations/representation.ts'
import { element } from '../../schemas/element.ts'
import { toJson } from '../../schemas/json.ts'
import { productXsd } from '../../schemas/product.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { rootType } from '../../schemas/vocabulary.ts'
import { writeXml } from '../../schemas/xml.ts'

const context: Context = { base: '/shop', currency: 'EUR', shop: 'Shop', caller: guest, self: '/shop/list' }
const links = [{ rel: 'self', href: '/shop/list' }]
/** As many items as fit into no piece, one, and more. */
const lengths = [0, 1, itemsOfPiece, itemsOfPiece + 1, 3 * itemsOfPiece - 1]

const product = (i: number): Product => ({
  id: `P-${i}`,
  version: i,
  name: `Bolt <${i}> & nut`,
  price: decimal('9.99'),
  currency: 'EUR',
  unit: 'C62',
  categories: i % 2 === 0 ? ['Bolts', 'Nuts'] : [],
  images: [],
  backorder: false,
  availability: 'in-stock',
  modifiedAt: i
})

const event = (i: number): ShopEvent => ({
  position: i,
  id: `e-${i}`,
  type: 'product-changed',
  subject: `P-${i}`,
  version: i,
  at: i,
  weight: 1
})

const order = (i: number): OrderSummary => ({
  id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  version: 1,
  status: 'received',
  placedAt: i,
  modifiedAt: i,
  itemCount: i,
  currency: 'EUR',
  total: decimal('1')
})

const many = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i))

function variant<T>(of: Representations<T>, mediaType: string): Representation<T> {
  const found = variantOf(of, mediaType)
  if (!found) throw new Error(mediaType)
  return found
}

/** Writes a value in pieces, and checks that `write` writes the same. */
function inPieces<T>(t: Test, { write, writeInPieces, mediaType }: Representation<T>, value: T) {
  const pieces = writeInPieces?.(value, context)
  if (!pieces) throw new Error(`${mediaType} is not written in pieces`)
  for (let count = 1; ; count++) {
    const { done, value: text } = pieces.next()
    if (!done) continue
    t.equal(text, write(value, context), `${mediaType} at once`)
    return { count, text }
  }
}

t.test('a piece of a list ends earlier where its items are large', (t) => {
  const products = [1, weightOfPiece, weightOfPiece / 2, weightOfPiece / 2, 1].map((length, i) => ({
    ...product(i),
    description: 'x'.repeat(length)
  }))
  const page = { products, links, query: {}, validators: undefined }
  for (const mediaType of ['application/xml', 'application/json', 'text/html']) {
    const { count } = inPieces(t, variant(productsRepresentations, mediaType), page)
    // The first two, the next two, and the last.
    t.equal(count, 3, mediaType)
  }
  t.end()
})

t.test('a list is written in pieces, and is the document that its elements make', (t) => {
  for (const length of lengths) {
    const [products, events] = [many(length, product), many(length, event)]
    const count = Math.max(1, Math.ceil(length / itemsOfPiece))
    const page = { products, links, query: {}, validators: undefined }
    const root = element('products', {}, [...products.map((one) => productElement(one, context)), ...links.map(linkElement)])
    const type = rootType(productXsd, 'products')
    t.same(inPieces(t, variant(productsRepresentations, 'application/xml'), page), { count, text: writeXml(root) })
    const json = { count, text: `${JSON.stringify(toJson(root, type), null, 2)}\n` }
    t.same(inPieces(t, variant(productsRepresentations, 'application/json'), page), json)
    const feed = { events, links, version: '1', isFinal: false, types: [] }
    const feedRoot = element('events', {}, [...events.map((one) => eventElement(one, context)), ...links.map(linkElement)])
    t.same(inPieces(t, variant(eventsRepresentations, 'application/xml'), feed), { count, text: writeXml(feedRoot) })
    const lines = inPieces(t, variant(eventsRepresentations, 'application/x-ndjson'), feed)
    t.equal(lines.count, count)
    const { event: members } = toJson(feedRoot, rootType(orderXsd, 'events')) as { event: unknown[] }
    t.same(
      lines.text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
      members
    )
  }
  t.end()
})

t.test('a page for people has one row for each item, in order', (t) => {
  for (const length of lengths) {
    const count = Math.max(1, Math.ceil(length / itemsOfPiece))
    const next = [...links, { rel: 'next', href: '/shop/list?after=1' }]
    const products = { products: many(length, product), links, query: {}, validators: undefined }
    const events = { events: many(length, event), links: next, version: '1', isFinal: false, types: [] }
    const orders = { orders: many(length, order), links, query: {}, validators: { version: '1' } }
    const pages = [
      [inPieces(t, variant(productsRepresentations, 'text/html'), products), /<td class="code">P-(\d+)</g],
      [inPieces(t, variant(eventsRepresentations, 'text/html'), events), /<a href="\/shop\/product\/P-(\d+)">/g],
      [inPieces(t, variant(ordersRepresentations, 'text/html'), orders), /<th scope="row"><a href="[^"]*-0*(\d+)"/g]
    ] as const
    for (const [written, row] of pages) {
      t.equal(written.count, count)
      const rows = [...written.text.matchAll(row)].map(([, number]) => Number(number || 0))
      t.same(rows, many(length, Number), String(row))
    }
  }
  t.end()
})
