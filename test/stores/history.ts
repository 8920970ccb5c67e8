/** Databases as earlier commits made them: by migrations as they were then, with rows that the code of 69ef1f6 wrote. */

import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { Order } from '../../domain/order.ts'
import type { Store } from '../../domain/store.ts'
import { fullPurchase, item, onHand, placing, purchase } from './fixtures.ts'

type Dialect = 'sqlite' | 'postgres'

export function historic(dialect: Dialect, file: string): string {
  return readFileSync(new URL(`./history/${dialect}/${file}`, import.meta.url), 'utf8')
}

export function migration(dialect: Dialect, name: string): string {
  return readFileSync(new URL(`../../stores/${dialect}/migrations/${name}`, import.meta.url), 'utf8')
}

/** Gives two products one GTIN in two lengths, as releases without 14 digits did. */
export const twins = `UPDATE product SET gtin = '09520728834110' WHERE id = 'hammer'; UPDATE product SET gtin = '9520728834110' WHERE id = 'rope'`

/** Checks that a store finds each of the `twins` by what it has to the letter, and that both can be written. */
export async function sharesGtin(t: Test, store: Store): Promise<void> {
  const ordered = async (gtin: string) => {
    const { order } = await store.placeOrder(placing('', 1, { order: purchase([{ ...item(''), product: { gtin } }]) }))
    return order.items[0]?.productId
  }
  const [hammer, rope] = [await store.product('hammer'), await store.product('rope')]
  t.equal(await ordered('09520728834110'), 'hammer')
  t.equal(await ordered('9520728834110'), 'rope')
  for (const { id, gtin = '', ...rest } of [hammer, rope]) {
    await store.putProduct(id, { ...rest, gtin, name: `New ${id}` }, {})
    t.match(await store.importProducts([{ id, draft: { ...rest, gtin } }]), ['replaced'])
    await t.rejects(store.createProduct('third', { ...rest, gtin }), { code: 'gtin-taken', message: /hammer/ })
  }
  const { gtin: _gtin, ...free } = hammer
  const [long = '', short = ''] = [hammer.gtin, rope.gtin]
  for (const [id, gtin, holder] of [
    ['hammer', short, 'rope'],
    ['rope', long, 'hammer']
  ] as const) {
    const taken = { code: 'gtin-taken', message: `The product ${holder} already has the GTIN ${gtin}. Correct the GTIN here or there.` }
    await t.rejects(store.putProduct(id, { ...free, gtin }, {}), taken, 'neither takes over what the other has')
    const unknown = { id: `beside ${id}`.replace(' ', '-'), draft: free }
    t.match(await store.importProducts([{ id, draft: { ...free, gtin } }, unknown]), [taken, 'created'])
  }
  const third = { id: 'third', draft: { ...free, gtin: long } }
  t.match(await store.importProducts([{ id: 'hammer', draft: free }, third, { id: 'hammer', draft: hammer }]), [
    'replaced',
    { code: 'gtin-taken', message: /rope/ },
    { code: 'gtin-taken', message: /rope/ }
  ])
  await store.putProduct('hammer', free, {})
  t.equal(await ordered('09520728834110'), 'rope', 'the one that is left has both lengths')
}

const roundedAlone = '680c82ea-a4c5-408c-8cbd-6bbc238486bb'

/** Adds an order that the code of 69ef1f6 placed: two lines of one product, each rounded by itself. */
export const twoLines = `INSERT INTO purchase_order (seq, id, version, customer, order_number, status, placed_at, modified_at, content)
  VALUES (3, '${roundedAlone}', 1, NULL, NULL, 'accepted', 1795824851350, 1795824851350, '{"notes":[],"extensions":[],"currency":"EUR","items":[{"line":1,"productId":"rope","name":"Rope","quantity":"0.5","unit":"MTR","unitPrice":"1.2345","lineTotal":"0.62","notes":[]},{"line":2,"productId":"rope","name":"Rope","quantity":"0.5","unit":"MTR","unitPrice":"1.2345","lineTotal":"0.62","notes":[]}],"total":"1.24"}')`

/** Checks that the order of `twoLines` keeps its totals, which a new order with its lines would not have. */
export async function keepsTotals(t: Test, store: Store): Promise<void> {
  const totals = ({ items, total }: Order) => [...items.map(({ lineTotal }) => lineTotal), total]
  t.same(totals(await store.order(roundedAlone)), ['0.62', '0.62', '1.24'])
  t.match((await store.orders({ limit: 1 })).items, [{ id: roundedAlone, total: '1.24' }])
  await store.setOrderStatus(roundedAlone, 'cancelled', {})
  t.same(totals(await store.order(roundedAlone)), ['0.62', '0.62', '1.24'], 'a new status recomputes nothing')
  const lines = [item('rope', '0.5'), item('rope', '0.5')]
  const { order } = await store.placeOrder(placing('rope', 1, { order: purchase(lines) }))
  t.same(totals(order), ['0.62', '0.61', '1.23'])
}

/** Checks that the store shows the rows of 69ef1f6, and that it can write on. */
export async function goesOn(t: Test, store: Store): Promise<void> {
  const ids = async (page: Promise<{ items: readonly { id: string }[] }>) => (await page).items.map(({ id }) => id)
  t.same(await ids(store.products({ limit: 10 })), ['hammer', 'rope'])
  t.same(await ids(store.products({ limit: 10, q: 'carpenter', category: 'Sale' })), ['hammer'])
  t.same(await store.mainCategories(10), ['Tools'])
  await t.rejects(store.product('gone'), { code: 'product-deleted' })

  const { items: orders } = await store.orders({ limit: 10 })
  t.match(orders, [
    { status: 'cancelled', total: '9.99' },
    { status: 'accepted', customer: 'ACME', total: '20.60' }
  ])
  t.match(
    orders.map(({ orderNumber, itemCount, currency, buyerName }) => ({ orderNumber, itemCount, currency, buyerName })),
    [
      { orderNumber: undefined, itemCount: 1, currency: 'EUR', buyerName: undefined },
      { orderNumber: 'PO-1', itemCount: 2, currency: 'EUR', buyerName: fullPurchase([]).buyer?.name }
    ]
  )
  const summaries = await store.orders({ limit: 10, lines: true })
  t.same(
    summaries.items.map(({ lines }) => lines?.map(({ productId, quantity, unit }) => [productId, quantity, unit])),
    [
      [['hammer', '1', 'C62']],
      [
        ['hammer', '2', 'C62'],
        ['rope', '0.5', 'MTR']
      ]
    ]
  )
  const { notes, items: lines } = await store.order(orders[1]?.id ?? '')
  t.same([notes, lines.map(({ productId }) => productId)], [fullPurchase([]).notes, ['hammer', 'rope']])
  t.same(await ids(store.orders({ limit: 10, customer: 'ACME', status: 'accepted' })), [orders[1]?.id])

  const placed = await store.placeOrder(placing('hammer', 3))
  t.equal(await onHand(store, 'hammer'), '5')
  t.same(await ids(store.orders({ limit: 1 })), [placed.order.id])
  const numbered = { order: purchase([item('rope')], { orderNumber: 'PO-1' }), customer: 'ACME' }
  await t.rejects(store.placeOrder(placing('rope', 1, numbered)), { code: 'order-number-taken', orderId: orders[1]?.id })
  const idempotency = { scope: 'ACME /order', key: 'first', fingerprint: 'f'.repeat(64) }
  const replayed = await store.placeOrder(placing('rope', 1, { idempotency }))
  t.match(replayed, { replayed: true, outcome: 'placed', order: { id: orders[1]?.id } })
  t.match(await store.findKey('a'.repeat(64)), { customer: 'ACME', scopes: ['order', 'fulfilment'] })
  await store.createProduct('new', { ...(await store.product('rope')), categories: ['Ropes'] })
  t.same(await store.mainCategories(10), ['Ropes', 'Tools'])
  await store.setOrderStatus(placed.order.id, 'cancelled', {})
}
