import { decimal } from '../../domain/money.ts'
import { nextStatuses, type Order, orderStatuses } from '../../domain/order.ts'
import type { Rule } from './contract.ts'
import { draft, item, onHand, placing, purchase, stocked, untilLater } from './fixtures.ts'

const nowhere = '00000000-0000-4000-8000-000000000000'

const notesOf = ({ items }: Order) => items.map(({ notes }) => notes)

export function orderContract(rule: Rule): void {
  rule('a changed order is replaced whole, and the stock moves by the difference', async (t, store) => {
    await store.createProduct('a', stocked(10))
    await store.createProduct('b', stocked(10))
    const order = purchase([item('a', 4), item('b', 1)], { orderNumber: 'PO-1', notes: ['old'] })
    const { order: placed } = await store.placeOrder({ order, customer: 'acme', status: 'accepted' })
    await untilLater()
    const changed = await store.changeOrder(placed.id, purchase([item('a', 1)], { notes: ['new'] }), { version: 1 })
    t.match(changed, { id: placed.id, version: 2, customer: 'acme', status: 'accepted', notes: ['new'], total: '9.99' })
    t.equal(changed.placedAt, placed.placedAt)
    t.ok(changed.modifiedAt > placed.modifiedAt)
    t.equal(changed.items.length, 1)
    t.notOk('orderNumber' in changed)
    t.same(await store.order(placed.id), changed)
    t.same([await onHand(store, 'a'), await onHand(store, 'b')], ['9', '10'])
    await store.changeOrder(placed.id, purchase([item('a', 10)]), {})
    t.equal(await onHand(store, 'a'), '0')
  })

  rule('the quantity that an order had keeps its price, more of it and new lines get that of today', async (t, store) => {
    await store.createProduct('a', stocked(20))
    await store.createProduct('b', stocked(10))
    const { order } = await store.placeOrder(placing('a', 3))
    for (const id of ['a', 'b']) await store.putProduct(id, draft({ name: 'New', price: decimal('20') }), {})
    const changed = await store.changeOrder(order.id, purchase([item('a', 5, { notes: ['blue'] }), item('b', 1)]), {})
    const [kept, more, other] = [
      { line: 1, productId: 'a', name: 'Hammer', quantity: '3', unitPrice: '9.99', lineTotal: '29.97' },
      { line: 2, productId: 'a', name: 'New', quantity: '2', unitPrice: '20', lineTotal: '40.00' },
      { line: 3, productId: 'b', name: 'New', quantity: '1', unitPrice: '20', lineTotal: '20.00' }
    ]
    t.match(changed.items, [kept, more, other])
    t.same(notesOf(changed), [['blue'], [], []])
    t.equal(changed.total, '89.97')
    t.equal(await onHand(store, 'a'), '15')
    await store.putProduct('a', draft({ price: decimal('5') }), {})
    const less = await store.changeOrder(order.id, purchase([item('a', 4)]), {})
    t.match(less.items, [kept, { ...more, quantity: '1', lineTotal: '20.00' }], 'what it had at either price')
    t.same(notesOf(less), [[], []])
    const again = await store.changeOrder(order.id, purchase([item('a', 5)]), {})
    t.match(again.items, [kept, { ...more, quantity: '1', lineTotal: '20.00' }, { name: 'Hammer', quantity: '1', unitPrice: '5' }])
    t.same(notesOf(again), [[], [], []])
    t.equal((await store.changeOrder(order.id, purchase([item('a', 3)]), {})).items.length, 1)
  })

  rule('an order whose lines have two prices comes out as it went in, with its prices and without', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const { order } = await store.placeOrder(placing('a', 5))
    await store.putProduct('a', draft({ price: decimal('12') }), {})
    const lines = [item('a', 3, { unitPrice: decimal('12'), notes: ['first'] }), item('a', 5, { unitPrice: decimal('9.99') }), item('a', 4)]
    const { items } = await store.changeOrder(order.id, purchase(lines), {})
    t.match(items, [{ unitPrice: '12' }, { unitPrice: '9.99' }, { unitPrice: '12' }])
    await store.putProduct('a', draft({ price: decimal('15') }), {})
    for (const named of [true, false]) {
      const same = items.map(({ quantity, unit, unitPrice, notes }) =>
        item('a', quantity, { notes, ...(named ? { unit, unitPrice } : {}) })
      )
      t.same((await store.changeOrder(order.id, purchase(same), {})).items, items, named ? 'as a GET gives it' : 'as a form sends it')
    }
    const cheaper = await store.changeOrder(order.id, purchase([item('a', 6, { unitPrice: decimal('12') })]), {})
    t.match(cheaper.items, [{ quantity: '6', unitPrice: '12', lineTotal: '72.00' }], 'a line that names a price keeps that one')
  })

  rule('the price that a changed line expects is that of all of it', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const { order } = await store.placeOrder(placing('a', 5))
    await store.putProduct('a', draft({ price: decimal('12') }), {})
    for (const [quantity, unitPrice] of [
      [8, '9.99'],
      [8, '12'],
      [5, '12']
    ] as const) {
      const change = store.changeOrder(order.id, purchase([item('a', quantity, { unitPrice: decimal(unitPrice) })]), {})
      const faults = [{ code: 'price-changed', at: ['item', 1, 'unit-price'] }]
      await t.rejects(change, { code: 'order-refused', faults }, `${quantity} at ${unitPrice}`)
    }
    t.same(await store.order(order.id), order)
    const two = [item('a', 5, { unitPrice: decimal('9.99') }), item('a', 3, { unitPrice: decimal('12') })]
    t.equal((await store.changeOrder(order.id, purchase(two), {})).total, '85.95')
  })

  rule('more of a product that is sold by another unit now goes into a line of its own', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const { order } = await store.placeOrder(placing('a', 5))
    await store.putProduct('a', draft({ unit: 'KGM' }), {})
    const fault = { code: 'wrong-unit', at: ['item', 1, 'quantity'] }
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 6)]), {}), { code: 'invalid-order', faults: [fault] })
    const changed = await store.changeOrder(order.id, purchase([item('a', 5), item('a', '1.5', { unit: 'KGM' })]), {})
    t.match(changed.items, [
      { quantity: '5', unit: 'C62' },
      { quantity: '1.5', unit: 'KGM' }
    ])
  })

  rule('lines with two prices never make an order of more items than one may have', async (t, store) => {
    for (const id of ['a', 'b', 'c']) await store.createProduct(id, stocked(100))
    const ids = ['a', 'b', 'c']
    const { order } = await store.placeOrder({ order: purchase(ids.map((id) => item(id))), status: 'accepted' })
    for (const id of ids) await store.putProduct(id, draft({ price: decimal('12') }), {})
    const more = purchase(ids.map((id) => item(id, 2)))
    await t.rejects(store.changeOrder(order.id, more, {}, { mostItems: 5 }), {
      code: 'invalid-order',
      faults: [{ code: 'too-many-items' }]
    })
    t.same(await store.order(order.id), order)
    t.equal((await store.changeOrder(order.id, more, {}, { mostItems: 6 })).items.length, 6)
  })

  rule('an order number given again with what made two lines of one is the same content', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const numbered = (quantity: number, more = {}) => purchase([item('a', quantity, more)], { orderNumber: '1' })
    const owned = { customer: 'acme', status: 'accepted' } as const
    const { order } = await store.placeOrder({ order: numbered(5), ...owned })
    await store.putProduct('a', draft({ price: decimal('12') }), {})
    await store.changeOrder(order.id, numbered(8), {})
    t.equal((await store.placeOrder({ order: numbered(8), ...owned })).outcome, 'repeated')
    for (const other of [numbered(5), numbered(9), numbered(8, { unitPrice: decimal('9.99') }), numbered(8, { notes: ['no'] })]) {
      await t.rejects(store.placeOrder({ order: other, ...owned }), { code: 'order-number-taken' })
    }
  })

  rule('a change that the stock does not cover is refused, and leaves the order as it was', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(placing('a', 4))
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 11)]), {}), { code: 'order-refused' })
    await t.rejects(store.changeOrder(order.id, purchase([item('none', 1)]), {}), { code: 'invalid-order' })
    t.same(await store.order(order.id), order)
    t.equal(await onHand(store, 'a'), '6')
  })

  rule('an order is changed only at the version that was expected', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(placing('a', 4))
    await t.rejects(store.changeOrder(nowhere, purchase([item('a')]), { version: 1 }), { code: 'order-not-found' })
    await t.rejects(store.changeOrder(order.id, purchase([item('a')]), { version: 2 }), { code: 'precondition-failed' })
    await store.changeOrder(order.id, purchase([item('a')]), { version: 1 })
    await t.rejects(store.changeOrder(order.id, purchase([item('a')]), { version: 1 }), { code: 'precondition-failed' })
    await t.rejects(store.setOrderStatus(order.id, 'shipped', { version: 1 }), { code: 'precondition-failed' })
    t.match(await store.setOrderStatus(order.id, 'shipped', { version: 2 }), { status: 'shipped', version: 3 })
  })

  rule('an order that has shipped, or ended, is no longer changed', async (t, store) => {
    await store.createProduct('a', stocked(10))
    for (const status of ['shipped', 'cancelled'] as const) {
      const { order } = await store.placeOrder(placing('a'))
      await store.setOrderStatus(order.id, status, {})
      await t.rejects(store.changeOrder(order.id, purchase([item('a', 2)]), { version: 2 }), { code: 'transition-refused' })
    }
  })

  rule('a change cannot take the number of another order, but may keep its own or take one that is free', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const numbered = (orderNumber: string, quantity = 1) => purchase([item('a', quantity)], { orderNumber })
    const owned = { customer: 'acme', status: 'accepted' } as const
    const { order: one } = await store.placeOrder({ order: numbered('1'), ...owned })
    const { order: two } = await store.placeOrder({ order: numbered('2'), ...owned })
    await t.rejects(store.changeOrder(two.id, numbered('1'), {}), { code: 'order-number-taken', orderId: one.id })
    await store.changeOrder(two.id, numbered('2', 2), {})
    await store.changeOrder(two.id, numbered('3'), {})
    t.equal((await store.placeOrder({ order: numbered('2'), ...owned })).outcome, 'placed', 'a number given up is free')
    await store.setOrderStatus(one.id, 'cancelled', {})
    t.equal((await store.changeOrder(two.id, numbered('1'), {})).orderNumber, '1')
  })

  rule('a status goes only where the order may go, and a refusal says where that is, or why nothing can be cancelled', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    for (const path of [
      [],
      ['accepted'],
      ['rejected'],
      ['cancelled'],
      ['accepted', 'shipped'],
      ['accepted', 'shipped', 'completed']
    ] as const) {
      const { order } = await store.placeOrder(placing('a', 1, { status: 'received' }))
      let now = order
      for (const status of path) now = await store.setOrderStatus(order.id, status, {})
      t.match(now, { status: path.at(-1) ?? 'received', version: path.length + 1 })
      const allowed = nextStatuses(now.status)
      for (const status of orderStatuses.filter((status) => status !== now.status && !allowed.includes(status))) {
        const message = status === 'cancelled' ? /can no longer be cancelled|nothing left to cancel/ : new RegExp(allowed.join('.*'))
        await t.rejects(store.setOrderStatus(order.id, status, {}), { code: 'transition-refused', message })
      }
      t.same(await store.order(order.id), now)
    }
    await t.rejects(store.setOrderStatus(nowhere, 'shipped', { version: 1 }), { code: 'order-not-found' })
  })

  rule(
    'the status that an order has already changes nothing, whatever was expected (RFC 9110 13.1.1: already applied)',
    async (t, store) => {
      await store.createProduct('a', stocked(10))
      const { order } = await store.placeOrder(placing('a', 4))
      const cancelled = await store.setOrderStatus(order.id, 'cancelled', { version: 1 })
      t.same(await store.setOrderStatus(order.id, 'cancelled', { version: 1 }), cancelled)
      t.same(await store.setOrderStatus(order.id, 'cancelled', {}), cancelled)
      t.equal(await onHand(store, 'a'), '10', 'the stock came back once')
    }
  )

  rule('an order of quantities that are sold no more keeps them where it is not changed, and ends as any other', async (t, store) => {
    for (const id of ['a', 'b']) await store.createProduct(id, stocked(100, { unit: 'KGM' }))
    const place = async () =>
      (await store.placeOrder({ order: purchase([item('a', '2.5'), item('a', '1.5'), item('b', '0.5')]), status: 'accepted' })).order
    const [one, two, three] = [await place(), await place(), await place()]
    const rule = { unit: 'KGM', quantityStep: decimal('1'), minimumQuantity: decimal('3') }
    for (const id of ['a', 'b']) await store.putProduct(id, draft(rule), {})
    const change = (...items: Parameters<typeof item>[]) => store.changeOrder(one.id, purchase(items.map((of) => item(...of))), {})
    t.same((await change(['a', '2.5'], ['a', '1.5'], ['b', '0.5'])).items, one.items)
    const fault = (line: number, code = 'wrong-quantity-step') => ({ code, at: ['item', line, 'quantity'] })
    await t.rejects(change(['a', '2.5'], ['a', '1.25'], ['b', '0.5']), { code: 'invalid-order', faults: [fault(2)] })
    await t.rejects(change(['a', '2.5'], ['b', '0.5']), { code: 'invalid-order', faults: [fault(1, 'below-minimum-quantity')] })
    await t.rejects(change(['a', 3], ['b', 1]), { code: 'invalid-order', faults: [fault(2, 'below-minimum-quantity')] })
    t.match((await change(['a', '2.5'], ['a', 2], ['b', '0.5'])).items, [{ quantity: '2.5' }, { quantity: '2' }, { quantity: '0.5' }])
    t.match(await change(['a', 3]), { total: '29.97' })
    await store.setOrderStatus(two.id, 'cancelled', {})
    t.match(await store.setOrderStatus(three.id, 'shipped', {}), { status: 'shipped', items: three.items })
  })

  rule('a line that became two since it has two prices counts as one for the step', async (t, store) => {
    const rule = { quantityStep: decimal('4') }
    await store.createProduct('a', stocked(100, { quantityStep: decimal('5') }))
    const { order } = await store.placeOrder(placing('a', 5))
    await store.putProduct('a', draft({ ...rule, price: decimal('12') }), {})
    const { items } = await store.changeOrder(order.id, purchase([item('a', 8)]), {})
    t.match(items, [{ quantity: '5' }, { quantity: '3' }])
    const two = (more: number) => store.changeOrder(order.id, purchase([item('a', 5), item('a', more)]), {})
    t.match((await two(3)).items, items)
    await t.rejects(two(6), { code: 'invalid-order', faults: [{ code: 'wrong-quantity-step', at: ['item', 2, 'quantity'] }] })
    t.match((await two(7)).items, [{ quantity: '5' }, { quantity: '7' }])
  })

  rule('cancelling and rejecting give the stock back, shipping does not', async (t, store) => {
    await store.createProduct('a', stocked(10, { unit: 'KGM' }))
    const place = async () => (await store.placeOrder({ order: purchase([item('a', 1), item('a', '2.5')]), status: 'received' })).order.id
    const [cancelled, rejected] = [await place(), await place()]
    t.equal(await onHand(store, 'a'), '3')
    await store.setOrderStatus(cancelled, 'cancelled', {})
    await store.setOrderStatus(rejected, 'rejected', {})
    t.equal(await onHand(store, 'a'), '10')
    const kept = await place()
    await store.setOrderStatus(kept, 'accepted', {})
    await store.setOrderStatus(kept, 'shipped', {})
    t.equal(await onHand(store, 'a'), '6.5')
  })

  rule('an order of a deleted product can be cancelled, and reduced, but take no more of it', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(placing('a', 4))
    await store.deleteProduct('a', {})
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 5)]), {}), { code: 'order-refused' })
    t.match(await store.changeOrder(order.id, purchase([item('a', 3)]), {}), { total: '29.97' })
    t.match(await store.setOrderStatus(order.id, 'cancelled', {}), { status: 'cancelled' })
    await t.rejects(store.product('a'), { code: 'product-deleted' })
  })

  rule('the head of an order is what it has besides its content', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order: guests } = await store.placeOrder(placing('a', 1))
    const numbered = purchase([item('a', 2)], { orderNumber: 'PO-1', notes: ['note'] })
    const { order: customers } = await store.placeOrder({ order: numbered, customer: 'acme', status: 'received' })
    await store.setOrderStatus(customers.id, 'accepted', {})
    const { id, placedAt } = guests
    const { size: guestsSize, ...guestsHead } = await store.orderHead(id)
    t.same(guestsHead, { id, version: 1, status: 'accepted', placedAt, modifiedAt: placedAt })
    const { version, modifiedAt } = await store.order(customers.id)
    const { size, ...head } = await store.orderHead(customers.id)
    t.same(head, {
      id: customers.id,
      version,
      customer: 'acme',
      orderNumber: 'PO-1',
      status: 'accepted',
      placedAt: customers.placedAt,
      modifiedAt
    })
    const note = '螺'.repeat(100)
    const { order: noted } = await store.placeOrder({ order: purchase([item('a', 1)], { notes: [note] }), status: 'accepted' })
    t.equal((await store.orderHead(noted.id)).size - guestsSize, Buffer.byteLength(note) + 2, 'the size is in bytes')
    t.ok(size > guestsSize, 'the size does not depend on the columns alone')
    for (const unknown of [nowhere, 'x']) await t.rejects(store.orderHead(unknown), { code: 'order-not-found' })
  })
}
