import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseText, textOf } from '../../domain/deferred.ts'
import { ordersAudience } from '../../domain/event.ts'
import type { Order } from '../../domain/order.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { databaseFolder } from '../memory.ts'
import { watchParses } from '../parses.ts'
import { item, purchase, shopCurrency, stocked } from './fixtures.ts'
import { newSqliteFile } from './new-database.ts'

const customer = 'acme'
/** A character of three bytes. */
const wide = '螺'

async function open(t: Test, lines: number) {
  const path = await newSqliteFile(join(databaseFolder(t), 'shop.db'))
  const store = await openSqliteStore({ path, currency: shopCurrency })
  t.teardown(() => store.close())
  await store.createProduct('a', stocked(100_000, { name: wide.repeat(100) }))
  const order = purchase(
    Array.from({ length: lines }, () => item('a')),
    { orderNumber: 'PO-1' }
  )
  const placed = await store.placeOrder({ order, customer, status: 'accepted' })
  return { store, order: JSON.parse(JSON.stringify(placed.order)) as Order }
}

t.test('no read of a large order makes a string of it', async (t) => {
  const { store, order } = await open(t, 1_000)
  const draft = { items: order.items.map(({ line, quantity }) => ({ line, quantity })) }
  const parsed = watchParses(t)
  const heads = await store.eventHeads({ audience: ordersAudience(customer), limit: 10 })
  const read = {
    'by its id': await store.order(order.id),
    'in a list': (await store.wholeOrders({ limit: 10 })).items[0],
    'in an event': (await store.events(heads))[0]?.order
  }
  await store.shipOrder(order.id, draft, {})
  const shipment = await store.shipment(order.id, 1)
  t.equal(read['by its id'].hasDocument, undefined)
  t.equal(read['by its id'].orderNumber, 'PO-1')
  t.same(parsed, [])
  for (const [how, found] of Object.entries(read)) {
    const text = textOf(found)
    t.type(text, Uint8Array, how)
    t.same(parseText(text ?? ''), order, how)
  }
  t.type(textOf(shipment), Uint8Array)
  t.equal(shipment?.items[999]?.name, wide.repeat(100))
})

t.test('the mark of a document is found in bytes', async (t) => {
  const { store, order: first } = await open(t, 1)
  const document = { mediaType: 'application/xml', digest: 'd', answer: {}, bytes: Buffer.from('<Order/>') }
  const items = Array.from({ length: 1_000 }, () => item(first.items[0]?.productId ?? ''))
  const { order } = await store.placeOrder({ order: { ...purchase(items), hasDocument: true }, status: 'accepted', document })
  const parsed = watchParses(t)
  const read = await store.order(order.id)
  t.type(textOf(read), Uint8Array)
  t.equal(read.hasDocument, true)
  t.same(parsed, [])
})

t.test('an order that may have so few characters that it is parsed at once is a string, however many bytes they take', async (t) => {
  const { store, order } = await open(t, 200)
  const { size } = await store.orderHead(order.id)
  t.ok(size > 80 * 1024 && size <= 96 * 1024, `${size} bytes`)
  t.type(textOf(await store.order(order.id)), 'string')
  t.same(await store.order(order.id), order)
})
