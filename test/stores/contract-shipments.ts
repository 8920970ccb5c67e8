import { everyone } from '../../domain/event.ts'
import { type Decimal, decimal } from '../../domain/money.ts'
import type { ShipmentDraft } from '../../domain/shipping.ts'
import type { Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, everything, item, onHand, placing, purchase, stocked, untilLater } from './fixtures.ts'

const nowhere = '00000000-0000-4000-8000-000000000000'

const of = (...items: readonly (readonly [line: number, quantity: string | number])[]): ShipmentDraft => ({
  items: items.map(([line, quantity]) => ({ line, quantity: decimal(String(quantity)) }))
})

/** An accepted order of 4 a and 2 b, of which there were 10 each. */
async function placed(store: Store): Promise<string> {
  for (const id of ['a', 'b']) await store.createProduct(id, stocked(10))
  const { order } = await store.placeOrder({ order: purchase([item('a', 4), item('b', 2)]), status: 'accepted' })
  return order.id
}

async function stocks(store: Store): Promise<readonly Decimal[]> {
  return [await onHand(store, 'a'), await onHand(store, 'b')]
}

export function shipmentContract(rule: Rule): void {
  rule('an order is shipped in parts, and is shipped when nothing is left', async (t, store) => {
    const id = await placed(store)
    const summarised = async () => (await store.orders({ limit: 5 })).items[0]?.shipmentCount
    t.equal(await summarised(), undefined)
    await untilLater()
    const details = { shippedAt: 1_750_000_000_000, carrier: 'DHL', trackingNumber: 'T 1', trackingUri: 'https://dhl.example/T1' }
    const { shipment, replayed } = await store.shipOrder(id, { ...details, ...of([1, '1.0']) }, { version: 1 })
    const line = { line: 1, productId: 'a', name: 'Hammer', unit: 'C62', quantity: '1.0' }
    t.same([shipment, replayed], [{ orderId: id, number: 1, ...details, itemCount: 1, items: [line] }, false])
    const order = await store.order(id)
    t.match(order, { version: 2, status: 'accepted', shipmentCount: 1, items: [{ shippedQuantity: '1' }, {}] })
    t.notOk('shippedQuantity' in (order.items[1] ?? {}))
    t.equal(await summarised(), 1)
    t.ok(order.modifiedAt > order.placedAt)
    await store.shipOrder(id, of([2, 2], [1, 1]), {})
    t.match(await store.order(id), { version: 3, status: 'accepted', items: [{ shippedQuantity: '2' }, { shippedQuantity: '2' }] })
    const last = await store.shipOrder(id, {}, {})
    t.match(last.shipment, { number: 3, items: [{ line: 1, quantity: '2' }] })
    t.equal(await summarised(), 3)
    t.equal(last.shipment.items.length, 1, 'a line of which nothing is left is not in it')
    t.match(await store.order(id), { version: 4, status: 'shipped', items: [{ shippedQuantity: '4' }, { shippedQuantity: '2' }] })
    t.match((await store.orders({ limit: 5, status: 'shipped' })).items, [{ id, status: 'shipped' }])
    t.same(await store.shipment(id, 1), shipment)
    t.same(await store.shipment(id, 3), last.shipment)
    t.equal(await store.shipment(id, 4), undefined)
    t.equal(await store.shipment(nowhere, 1), undefined)
    t.equal(await store.shipment('x', 1), undefined)
    t.same(await stocks(store), ['6', '8'], 'the stock was taken by the order')
    await t.rejects(store.shipOrder(id, {}, {}), { code: 'transition-refused' })
  })

  rule('a list says of each order how many shipments it has itself', async (t, store) => {
    const id = await placed(store)
    const { order: other } = await store.placeOrder(placing('a'))
    for (let n = 0; n < 2; n++) await store.shipOrder(id, of([1, 1]), {})
    const counts = async () => (await store.orders({ limit: 5 })).items.map((order) => [order.id, order.shipmentCount])
    t.strictSame(await counts(), [
      [other.id, undefined],
      [id, 2]
    ])
    await store.shipOrder(other.id, {}, {})
    t.strictSame(await counts(), [
      [other.id, 1],
      [id, 2]
    ])
  })

  rule('a shipment is an event, and so is the status that follows from it', async (t, store) => {
    const id = await placed(store)
    const [before] = (await store.eventHeads({ audience: everyone, limit: 100 })).slice(-1)
    const newEvents = async () => {
      const heads = await store.eventHeads({ audience: everyone, limit: 100, ...(before ? { after: before.id } : {}) })
      return heads.map(({ type, version }) => `${type} ${version}`)
    }
    await store.shipOrder(id, of([1, 1]), {})
    t.same(await newEvents(), ['order-shipped 2'])
    await store.setOrderStatus(id, 'accepted', {}, { details: { note: 'More soon' } })
    await store.setOrderStatus(id, 'shipped', {})
    t.same(await newEvents(), ['order-shipped 2', 'order-changed 3', 'order-shipped 4', 'order-status-changed 4'])
    const heads = await store.eventHeads({ audience: everyone, limit: 100, ...(before ? { after: before.id } : {}) })
    const [first, , last] = await store.events(heads)
    t.match(first?.order, { version: 2, status: 'accepted', items: [{ shippedQuantity: '1' }] }, 'the order as it was then')
    t.match(last?.order, { version: 4, status: 'shipped', items: [{ shippedQuantity: '4' }] })
  })

  rule('the shipments of an order are listed in pages, newest first', async (t, store) => {
    const id = await placed(store)
    const made = []
    for (const quantity of [1, 2, 1]) made.unshift((await store.shipOrder(id, of([1, quantity]), {})).shipment)
    t.same(await everything((after) => store.shipments(id, { limit: 2, ...after })), made)
    t.equal((await store.shipments(id, { limit: 3 })).next, undefined)
    for (const other of [nowhere, 'x']) t.same(await store.shipments(other, { limit: 2 }), { items: [] })
    for (const after of ['0', '-1', 'x', '1e3', '1001', '99999']) {
      await t.rejects(store.shipments(id, { limit: 2, after }), { name: 'PositionError' }, after)
    }
  })

  rule('a list has no lines of a long shipment', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const lines = Array.from({ length: 21 }, () => item('a'))
    const { order } = await store.placeOrder({ order: purchase(lines), status: 'accepted' })
    await store.shipOrder(order.id, of([1, 1]), {})
    const { shipment } = await store.shipOrder(order.id, {}, {})
    t.equal(shipment.items.length, 20)
    const { order: longer } = await store.placeOrder({ order: purchase(lines), status: 'accepted' })
    await store.shipOrder(longer.id, {}, {})
    const [found] = (await store.shipments(longer.id, { limit: 1 })).items
    t.match([found?.itemCount, found?.items], [21, undefined])
    t.equal((await store.shipments(order.id, { limit: 1 })).items[0]?.items?.length, 20)
  })

  rule('a shipment that does not fit the order changes nothing, and every fault is told', async (t, store) => {
    const id = await placed(store)
    await store.shipOrder(id, of([1, 3]), {})
    const before = await store.order(id)
    await t.rejects(store.shipOrder(id, of([1, 2], [2, 3]), {}), {
      code: 'shipment-refused',
      faults: [
        { code: 'not-left', at: ['item', 1, 'quantity'] },
        { code: 'not-left', at: ['item', 2, 'quantity'] }
      ]
    })
    const items = [
      { line: 1, quantity: decimal('9') },
      { line: 3, quantity: decimal('1') },
      { line: 2, quantity: decimal('1'), unit: 'KGM' },
      { line: 2, quantity: decimal('1') }
    ]
    const faults = [
      { code: 'not-left', at: ['item', 1, 'quantity'] },
      { code: 'line-unknown', at: ['item', 2] },
      { code: 'wrong-unit', at: ['item', 3, 'quantity', 'unit'] },
      { code: 'repeated-line', at: ['item', 4] }
    ]
    await t.rejects(store.shipOrder(id, { items }, {}), { code: 'invalid-shipment', faults })
    await t.rejects(store.shipOrder(id, {}, { version: 1 }), { code: 'precondition-failed' })
    await t.rejects(store.shipOrder(nowhere, {}, {}), { code: 'order-not-found' })
    t.same(await store.order(id), before)
    t.equal((await store.shipments(id, { limit: 5 })).items.length, 1)
  })

  rule('only an accepted order is shipped', async (t, store) => {
    await store.createProduct('a', stocked(100))
    for (const path of [[], ['rejected'], ['cancelled'], ['accepted', 'shipped'], ['accepted', 'shipped', 'completed']] as const) {
      const { order } = await store.placeOrder(placing('a', 1, { status: 'received' }))
      for (const status of path) await store.setOrderStatus(order.id, status, {})
      await t.rejects(store.shipOrder(order.id, {}, {}), { code: 'transition-refused' }, path.join())
    }
  })

  rule('the status `shipped` makes a shipment of the rest', async (t, store) => {
    const id = await placed(store)
    await store.shipOrder(id, of([1, 3]), {})
    const shipped = await store.setOrderStatus(id, 'shipped', { version: 2 }, { details: { note: 'All gone' } })
    t.match(shipped, { version: 3, status: 'shipped', sellerNote: 'All gone', shipmentCount: 2 })
    t.same(await store.order(id), shipped)
    t.match(await store.shipment(id, 2), {
      items: [
        { line: 1, quantity: '1' },
        { line: 2, quantity: '2' }
      ]
    })
    t.same(await store.setOrderStatus(id, 'shipped', { version: 1 }), shipped)
    t.equal((await store.shipments(id, { limit: 5 })).items.length, 2, 'once more ships nothing')
  })

  rule('cancelling an order that was shipped in part keeps that part, and gives the rest back', async (t, store) => {
    const id = await placed(store)
    const { order: other } = await store.placeOrder(placing('a', 1))
    await store.shipOrder(id, of([1, 3]), {})
    t.same(await stocks(store), ['5', '8'])
    const cut = await store.setOrderStatus(id, 'cancelled', { version: 2 })
    t.match(cut, { version: 3, status: 'shipped', total: '29.97', isRestCancelled: true })
    t.match(cut.items, [{ line: 1, quantity: '3', shippedQuantity: '3', lineTotal: '29.97' }])
    t.equal(cut.items.length, 1)
    t.same(await store.order(id), cut)
    t.same(await stocks(store), ['6', '10'])
    t.match((await store.orders({ limit: 1, after: other.id })).items, [{ itemCount: 1, total: '29.97' }])
    t.same(await store.setOrderStatus(id, 'cancelled', { version: 2 }), cut, 'once more changes nothing')
    t.match(await store.setOrderStatus(id, 'completed', {}), { status: 'completed' })
  })

  rule('an order that was shipped in part is changed only in what is left', async (t, store) => {
    const id = await placed(store)
    await store.shipOrder(id, of([1, 3]), {})
    await store.putProduct('a', draft({ price: decimal('20') }), {})
    const before = await store.order(id)
    for (const items of [[item('a', 2), item('b', 2)], [item('b', 2)]]) {
      const refused = { code: 'order-refused', faults: [{ code: 'already-shipped' }] }
      await t.rejects(store.changeOrder(id, purchase(items), {}), refused)
    }
    t.same(await store.order(id), before)
    const moved = await store.changeOrder(id, purchase([item('b', 1), item('a', 2), item('a', 3)]), {})
    t.match(moved.items, [
      { productId: 'b', quantity: '1' },
      { productId: 'a', quantity: '2', unitPrice: '9.99' },
      { productId: 'a', quantity: '2', unitPrice: '9.99' },
      { productId: 'a', quantity: '1', unitPrice: '20' }
    ])
    t.same(
      moved.items.map(({ shippedQuantity }) => shippedQuantity),
      [undefined, '2', '1', undefined],
      'what was shipped counts for the lines of its product and price'
    )
    t.same(await stocks(store), ['5', '9'])
    const rest = await store.changeOrder(id, purchase([item('a', 3)]), {})
    t.match([rest.status, rest.shipmentCount, rest.items], ['shipped', 1, [{ quantity: '3', shippedQuantity: '3' }]])
    t.same(await store.order(id), rest)
    t.same(await stocks(store), ['7', '10'])
  })

  rule('the same Idempotency-Key replays the first shipment, and with another request is refused', async (t, store) => {
    const id = await placed(store)
    const key = { scope: 'customer ERP POST', key: 'k', fingerprint: 'one' }
    const first = await store.shipOrder(id, of([1, 1]), {}, { idempotency: key })
    await store.shipOrder(id, {}, {})
    for (const expected of [{ version: 1 }, { onlyRepeat: true } as const]) {
      t.same(await store.shipOrder(id, of([1, 1]), expected, { idempotency: key }), { shipment: first.shipment, replayed: true })
    }
    await t.rejects(store.shipOrder(id, of([1, 1]), {}, { idempotency: { ...key, fingerprint: 'two' } }), {
      code: 'idempotency-key-reused'
    })
    await t.rejects(store.shipOrder(id, {}, {}, { idempotency: { ...key, key: 'l' } }), { code: 'transition-refused' })
    t.equal((await store.shipments(id, { limit: 5 })).items.length, 2)
    const { order } = await store.placeOrder(placing('a', 1))
    const unknown = { ...key, key: 'l' }
    await t.rejects(store.shipOrder(order.id, {}, { onlyRepeat: true }, { idempotency: unknown }), { code: 'precondition-failed' })
    t.match(await store.shipOrder(order.id, {}, {}, { idempotency: unknown }), { replayed: false }, 'a refused attempt leaves no trace')
  })

  rule('of twenty shipments of the last piece at once one is made', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(placing('a', 3))
    await store.shipOrder(order.id, of([1, 2]), {})
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => store.shipOrder(order.id, of([1, 1]), {})))
    t.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const one of tries) if (one.status === 'rejected') t.match(one.reason, { code: 'transition-refused' })
    t.match(await store.order(order.id), { status: 'shipped', version: 3, items: [{ shippedQuantity: '3' }] })
    t.equal((await store.shipments(order.id, { limit: 5 })).items.length, 2)
  })

  rule('of twenty shipments with one key at once one is made, and all are answered with it', async (t, store) => {
    await store.createProduct('a', stocked(50))
    const { order } = await store.placeOrder(placing('a', 40))
    const key = { scope: 'customer ERP POST', key: 'k', fingerprint: 'one' }
    const all = await Promise.all(Array.from({ length: 20 }, () => store.shipOrder(order.id, of([1, 1]), {}, { idempotency: key })))
    t.equal(all.filter(({ replayed }) => !replayed).length, 1)
    for (const { shipment } of all) t.same(shipment, all[0]?.shipment)
    t.match(await store.order(order.id), { items: [{ shippedQuantity: '1' }] })
  })

  rule('the details of a status are the order’s, and stay when the buyer changes it', async (t, store) => {
    await store.createProduct('a', stocked(10))
    await store.createProduct('b', stocked(10))
    const { order } = await store.placeOrder({ order: purchase([item('a', 4), item('b', 2)]), status: 'received' })
    const items = [{ line: 2, expectedDeliveryDate: '2026-12-24', note: 'Late' }]
    const details = { expectedDeliveryDate: '2026-12-01', note: 'Thanks', items }
    const accepted = await store.setOrderStatus(order.id, 'accepted', { version: 1 }, { details })
    t.match(accepted, { version: 2, status: 'accepted', expectedDeliveryDate: '2026-12-01', sellerNote: 'Thanks' })
    t.match(accepted.items[1], { expectedDeliveryDate: '2026-12-24', sellerNote: 'Late' })
    t.same(await store.order(order.id), accepted)
    for (const same of [details, undefined, {}, { items: [{ line: 2 }] }]) {
      for (const expected of [{ version: 1 }, { onlyRepeat: true } as const]) {
        t.same(await store.setOrderStatus(order.id, 'accepted', expected, { details: same }), accepted, 'nothing changes')
      }
    }
    for (const expected of [{ version: 1 }, { onlyRepeat: true } as const]) {
      await t.rejects(store.setOrderStatus(order.id, 'accepted', expected, { details: { note: 'x' } }), { code: 'precondition-failed' })
      await t.rejects(store.setOrderStatus(order.id, 'shipped', expected), { code: 'precondition-failed' })
    }
    await t.rejects(store.setOrderStatus(order.id, 'accepted', {}, { details: { items: [{ line: 3, note: 'x' }] } }), {
      code: 'invalid-status',
      faults: [{ code: 'line-unknown', at: ['item', 1] }]
    })
    const later = await store.setOrderStatus(order.id, 'accepted', {}, { details: { expectedDeliveryDate: '2026-12-02', note: '' } })
    t.match(later, { version: 3, expectedDeliveryDate: '2026-12-02' })
    t.notOk('sellerNote' in later)
    const changed = await store.changeOrder(order.id, purchase([item('b', 1), item('a', 4)]), {})
    t.match(changed, { expectedDeliveryDate: '2026-12-02' })
    t.match(changed.items[0], { productId: 'b', expectedDeliveryDate: '2026-12-24', sellerNote: 'Late' })
    t.notOk('sellerNote' in (changed.items[1] ?? {}))
  })
}
