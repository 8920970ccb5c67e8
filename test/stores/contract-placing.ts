import { decimal } from '../../domain/money.ts'
import type { Rule } from './contract.ts'
import { draft, everything, fullPurchase, item, onHand, placing, purchase, stocked } from './fixtures.ts'

const idempotency = { scope: 'guest POST /order', key: 'k', fingerprint: 'f' }
const stamped = { customer: 'acme', status: 'accepted' } as const

export function placingContract(rule: Rule): void {
  rule('an order is read as it was placed, every element of it, priced', async (t, store) => {
    await store.createProduct('a', stocked(10, { name: 'A & Ö', price: decimal('10.10') }))
    await store.createProduct('b', stocked('0.5', { price: decimal('0.3333'), unit: 'KGM', gtin: '4006381333931' }))
    const before = Date.now()
    const sent = fullPurchase([
      item('a', '3.000', { unitPrice: decimal('10.1'), unit: 'C62', notes: ['first'] }),
      { product: { gtin: '4006381333931' }, quantity: decimal('0.5'), notes: [] }
    ])
    const { order, outcome } = await store.placeOrder({ order: sent, ...stamped })
    const { items: _items, ...header } = sent
    const { id, placedAt, modifiedAt, ...rest } = order
    t.equal(outcome, 'placed')
    t.same(rest, {
      ...header,
      version: 1,
      ...stamped,
      items: [
        {
          line: 1,
          productId: 'a',
          name: 'A & Ö',
          quantity: '3.000',
          unit: 'C62',
          unitPrice: '10.10',
          lineTotal: '30.30',
          notes: ['first']
        },
        {
          line: 2,
          productId: 'b',
          gtin: '4006381333931',
          name: 'Hammer',
          quantity: '0.5',
          unit: 'KGM',
          unitPrice: '0.3333',
          lineTotal: '0.17',
          notes: []
        }
      ],
      total: '30.47'
    })
    t.ok(placedAt === modifiedAt && placedAt >= before - 1000)
    t.ok(id.length >= 22, 'room for 122 random bits')
    t.same(await store.order(id), order)
    t.same([await onHand(store, 'a'), await onHand(store, 'b')], ['7', '0'])
  })

  rule("a guest's order has no customer, and the shop's currency when it names none", async (t, store) => {
    await store.createProduct('a', stocked(1))
    const { order } = await store.placeOrder(placing('a', 1, { status: 'received' }))
    const read = await store.order(order.id)
    t.notOk('customer' in read || 'orderNumber' in read || 'buyer' in read)
    t.match(read, { currency: 'EUR', status: 'received' })
    t.same(read.notes, [])
    await t.rejects(store.order('00000000-0000-4000-8000-000000000000'), { code: 'order-not-found' })
  })

  rule('all that is wrong is named at once, and nothing of a refused order is stored', async (t, store) => {
    await store.createProduct('a', stocked(5))
    await store.createProduct('gone', stocked(5))
    await store.deleteProduct('gone', {})
    const order = purchase([item('a', 1), item('none'), item('gone'), item('a', 1, { unit: 'KGM' })], { currency: 'USD' })
    const faults = [
      { code: 'wrong-currency', at: ['currency'] },
      { code: 'unknown-product', at: ['item', 2, 'product-id'] },
      { code: 'unknown-product', at: ['item', 3, 'product-id'] },
      { code: 'wrong-unit', at: ['item', 4, 'quantity'] }
    ]
    await t.rejects(store.placeOrder({ order, ...stamped, idempotency }), { code: 'invalid-order', faults })
    const short = purchase([item('a', 3), item('a', 3), item('a', 1, { unitPrice: decimal('9') })])
    await t.rejects(store.placeOrder({ order: short, ...stamped, idempotency }), { code: 'order-refused' })
    t.equal(await onHand(store, 'a'), '5')
    t.same(await everything((after) => store.orders({ limit: 10, ...after })), [])
    t.equal((await store.placeOrder({ ...placing('a'), idempotency })).outcome, 'placed', 'a refused attempt leaves no trace')
  })

  rule('lines of one product add up', async (t, store) => {
    await store.createProduct('a', stocked(5, { unit: 'KGM' }))
    await t.rejects(store.placeOrder({ order: purchase([item('a', 3), item('a', '2.001')]), ...stamped }), { code: 'order-refused' })
    await store.placeOrder({ order: purchase([item('a', 3), item('a', 2)]), ...stamped })
    t.equal(await onHand(store, 'a'), '0')
  })

  rule('the lines of one product add up to the rounded exact amount, however many they are', async (t, store) => {
    await store.createProduct('a', stocked(20, { price: decimal('4.35'), unit: 'KGM' }))
    await store.createProduct('b', stocked(20, { price: decimal('4.35'), unit: 'KGM' }))
    const cut = Array.from({ length: 10_000 }, () => item('a', '0.001'))
    const { order } = await store.placeOrder({ order: purchase(cut), ...stamped })
    t.equal(order.total, '43.50')
    t.equal(await onHand(store, 'a'), '10')
    const mixed = purchase([item('a', '0.001'), item('b', '0.001'), item('a', '0.001'), item('b', '0.5'), item('a', '0.001')])
    const { items, total } = (await store.placeOrder({ order: mixed, ...stamped })).order
    t.same(
      items.map(({ lineTotal }) => lineTotal),
      ['0.00', '0.00', '0.01', '2.18', '0.00'],
      'each product for itself'
    )
    t.equal(total, '2.19')
  })

  rule('each line orders whole numbers of a counted unit, and thousandths of a measured one', async (t, store) => {
    for (const unit of ['C62', 'EA', 'H87', 'NAR', 'SET', 'BX', 'PK', 'XPK', 'DZN']) {
      await store.createProduct(unit, stocked(100, { unit }))
      const order = purchase([item(unit, '0.5'), item(unit, 2), item(unit, '1.5'), item(unit, '3.000')])
      const faults = [1, 3].map((line) => ({ code: 'wrong-quantity-step', at: ['item', line, 'quantity'] }))
      await t.rejects(store.placeOrder({ order, ...stamped }), { code: 'invalid-order', faults }, unit)
      t.equal(await onHand(store, unit), '100')
    }
    for (const unit of ['KGM', 'MTR', 'LTR', 'HUR', 'MTK', 'XVQ']) {
      await store.createProduct(unit, stocked(100, { unit }))
      await store.placeOrder(placing(unit, '0.001'))
      t.equal(await onHand(store, unit), '99.999', unit)
    }
  })

  rule('a product is ordered from its minimum on, in multiples of its step', async (t, store) => {
    const rule = { minimumQuantity: decimal('5'), quantityStep: decimal('2.5') }
    await store.createProduct('a', stocked(100, { unit: 'MTR', ...rule }))
    t.match(await store.product('a'), rule)
    const place = (...quantities: readonly (string | number)[]) =>
      store.placeOrder({ order: purchase(quantities.map((quantity) => item('a', quantity))), ...stamped })
    const minimum = (line: number) => ({ code: 'below-minimum-quantity', at: ['item', line, 'quantity'] })
    const step = (line: number) => ({ code: 'wrong-quantity-step', at: ['item', line, 'quantity'] })
    for (const [quantities, faults] of [
      [[2.5], [minimum(1)]],
      [[6], [step(1)]],
      [
        [1, 2.5],
        [step(1), minimum(2)]
      ],
      [
        [4, 6],
        [step(1), step(2)]
      ]
    ] as const) {
      await t.rejects(place(...quantities), { code: 'invalid-order', faults }, String(quantities))
    }
    t.equal(await onHand(store, 'a'), '100')
    await place(5)
    await place('2.5', '2.500')
    await place('7.5')
    t.equal(await onHand(store, 'a'), '82.5', 'lines of one product add up to the minimum')
    await store.putProduct('a', draft({ unit: 'C62', minimumQuantity: decimal('3') }), {})
    t.notOk('quantityStep' in (await store.product('a')), 'a product is replaced whole')
    await t.rejects(place(2), { code: 'invalid-order', faults: [minimum(1)] })
    await place(4)
  })

  rule('a placed order keeps its names and prices when the catalogue changes', async (t, store) => {
    await store.createProduct('a', stocked(5))
    const { order } = await store.placeOrder(placing('a'))
    await store.putProduct('a', draft({ name: 'Other', price: decimal('1'), unit: 'KGM' }), {})
    t.same(await store.order(order.id), order)
    await store.deleteProduct('a', {})
    t.same(await store.order(order.id), order)
  })

  rule('an idempotency key replays the order as it was when it was placed', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const first = await store.placeOrder(placing('a', 2, { idempotency }))
    await store.setOrderStatus(first.order.id, 'cancelled', {})
    t.same(await store.placeOrder(placing('a', 2, { idempotency })), { order: first.order, outcome: 'placed', replayed: true })
    t.equal(await onHand(store, 'a'), '10')
    t.equal((await store.orders({ limit: 10 })).items.length, 1)
  })

  rule('an idempotency key with another request is refused; in another scope it is another key', async (t, store) => {
    await store.createProduct('a', stocked(10))
    await store.placeOrder(placing('a', 1, { idempotency }))
    const reused = placing('a', 1, { idempotency: { ...idempotency, fingerprint: 'other' } })
    await t.rejects(store.placeOrder(reused), { code: 'idempotency-key-reused' })
    const elsewhere = await store.placeOrder(placing('a', 1, { idempotency: { ...idempotency, scope: 'acme POST /order' } }))
    t.equal(elsewhere.outcome, 'placed')
    t.equal(await onHand(store, 'a'), '8')
  })

  rule("a customer's order number with the same content gives the order that stands, as it stands", async (t, store) => {
    await store.createProduct('a', stocked(10))
    const numbered = { order: purchase([item('a', 2)], { orderNumber: 'PO-1' }), ...stamped }
    const { order } = await store.placeOrder(numbered)
    const shipped = await store.setOrderStatus(order.id, 'shipped', {})
    t.same(await store.placeOrder(numbered), { order: shipped, outcome: 'repeated', replayed: false })
    t.equal(await onHand(store, 'a'), '8')
    const same = {
      ...numbered,
      order: purchase([item('a', '2.0', { unitPrice: decimal('9.990') })], { orderNumber: 'PO-1', currency: 'EUR' })
    }
    t.equal((await store.placeOrder(same)).outcome, 'repeated')
  })

  rule('stock is counted within what its documents can say, both ways', async (t, store) => {
    const most = '999999999999.999'
    await store.createProduct('a', stocked(0, { backorder: true, unit: 'KGM' }))
    await store.createProduct('b', stocked(5))
    await store.putStock('a', decimal(`-${most}`), {})
    const one = purchase([item('b'), item('a', '0.001')])
    const refused = { code: 'order-refused', faults: [{ code: 'stock-limit', at: ['item', 2, 'quantity'] }] }
    await t.rejects(store.placeOrder({ order: one, ...stamped }), refused)
    t.same([await onHand(store, 'a'), await onHand(store, 'b')], [`-${most}`, '5'])

    await store.putStock('a', decimal('10'), {})
    const { order } = await store.placeOrder({ order: purchase([item('a', 4), item('b')]), ...stamped })
    await store.putStock('a', decimal(most), {})
    await t.rejects(store.setOrderStatus(order.id, 'cancelled', {}), { code: 'transition-refused', message: /Correct the stock first/ })
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 3), item('b')]), {}), { code: refused.code })
    t.same([await onHand(store, 'a'), await onHand(store, 'b')], [most, '4'])
    await store.putStock('a', decimal('999999999995.999'), {})
    await store.setOrderStatus(order.id, 'cancelled', {})
    t.same([await onHand(store, 'a'), await onHand(store, 'b')], [most, '5'])
  })

  rule('an order is worth what a document can say', async (t, store) => {
    await store.createProduct('a', stocked(0, { backorder: true, price: decimal('999999999999') }))
    const order = (quantity: string, items: number) => purchase(Array.from({ length: items }, () => item('a', quantity)))
    await t.rejects(store.placeOrder({ order: order('1000001', 1), ...stamped }), {
      code: 'invalid-order',
      faults: [{ code: 'total-limit' }]
    })
    t.equal((await store.placeOrder({ order: order('500000', 2), ...stamped })).order.total, '999999999999000000.00')
  })

  rule('a repeated order is known by the GTIN that it named, whatever product has it by now', async (t, store) => {
    const gtin = '96385074'
    await store.createProduct('a', stocked(10, { gtin }))
    await store.createProduct('b', stocked(10))
    const named = { order: purchase([{ ...item('a', 2), product: { gtin } }], { orderNumber: 'PO-1' }), ...stamped }
    const byId = { order: purchase([item('a', 2)], { orderNumber: 'PO-1' }), ...stamped }
    const { order } = await store.placeOrder(named)
    const again = { order, outcome: 'repeated', replayed: false } as const
    for (const happens of [
      async () => {},
      () => store.putProduct('a', draft(), {}),
      () => store.putProduct('b', draft({ gtin }), {}),
      () => store.deleteProduct('a', {})
    ]) {
      await happens()
      t.same(await store.placeOrder(named), again)
      t.same(await store.placeOrder(byId), again)
    }
    const other = { order: purchase([item('b', 2)], { orderNumber: 'PO-1' }), ...stamped }
    await t.rejects(store.placeOrder(other), { code: 'order-number-taken' })
  })

  rule('a repeated order remembers the idempotency key that came with it', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const numbered = { order: purchase([item('a', 2)], { orderNumber: 'PO-1' }), ...stamped }
    const { order } = await store.placeOrder(numbered)
    t.equal((await store.placeOrder({ ...numbered, idempotency })).outcome, 'repeated')
    await store.setOrderStatus(order.id, 'cancelled', {})
    t.same(await store.placeOrder({ ...numbered, idempotency }), { order, outcome: 'repeated', replayed: true })
  })

  rule("a customer's order number with other content is refused, and the refusal names the order", async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder({ order: purchase([item('a', 2)], { orderNumber: 'PO-1' }), ...stamped })
    const other = { order: purchase([item('a', 3)], { orderNumber: 'PO-1' }), ...stamped }
    await t.rejects(store.placeOrder({ ...other, idempotency }), { code: 'order-number-taken', orderId: order.id })
    t.equal(await onHand(store, 'a'), '8')
    t.equal((await store.placeOrder({ ...other, customer: 'other' })).outcome, 'placed', 'the number is unique a customer')
    for (const status of ['received', 'accepted'] as const) {
      t.equal((await store.placeOrder({ order: other.order, status })).outcome, 'placed', 'and a guest has none')
      await store.putStock('a', decimal('3'), {})
    }
  })

  rule('a cancelled or rejected order frees its number', async (t, store) => {
    await store.createProduct('a', stocked(10))
    for (const status of ['cancelled', 'rejected'] as const) {
      const numbered = { order: purchase([item('a')], { orderNumber: status }), customer: 'acme', status: 'received' } as const
      const first = await store.placeOrder(numbered)
      await store.setOrderStatus(first.order.id, status, {})
      const second = await store.placeOrder(numbered)
      t.equal(second.outcome, 'placed')
      t.not(second.order.id, first.order.id)
    }
  })

  rule('an order of 10,000 lines is placed whole', async (t, store) => {
    const ids = Array.from({ length: 100 }, (_, i) => `p${i}`)
    await Promise.all(ids.map((id) => store.createProduct(id, stocked(1000, { unit: 'KGM' }))))
    const lines = Array.from({ length: 10_000 }, (_, i) => item(ids[i % 100] ?? '', '0.125', { notes: [`line ${i}`] }))
    const { order } = await store.placeOrder({ order: purchase(lines), ...stamped })
    const read = await store.order(order.id)
    t.equal(read.items.length, 10_000)
    t.equal(read.items[9_999]?.line, 10_000)
    t.equal(read.total, '12488.00', 'a hundred times 12.5 kg at 9.99')
    t.equal(await onHand(store, 'p99'), '987.5')
  })
}
