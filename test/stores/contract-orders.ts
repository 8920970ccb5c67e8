import { decimal } from '../../domain/money.ts'
import { nextStatuses, orderStatuses } from '../../domain/order.ts'
import type { Rule } from './contract.ts'
import { draft, item, onHand, placing, purchase, stocked, untilLater } from './fixtures.ts'

const nowhere = '00000000-0000-4000-8000-000000000000'

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

  rule('lines that an order had keep their price, new ones get that of today', async (t, store) => {
    await store.createProduct('a', stocked(10))
    await store.createProduct('b', stocked(10))
    const { order } = await store.placeOrder(placing('a'))
    for (const id of ['a', 'b']) await store.putProduct(id, draft({ name: 'New', price: decimal('20') }), {})
    const changed = await store.changeOrder(order.id, purchase([item('a', 2), item('b', 1)]), {})
    t.match(changed.items, [
      { name: 'Hammer', unitPrice: '9.99', lineTotal: '19.98' },
      { name: 'New', unitPrice: '20' }
    ])
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

  rule('a status goes only where the order may go, and a refusal says where that is', async (t, store) => {
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
        const message = new RegExp(allowed.join('.*'))
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

  rule('cancelling and rejecting give the stock back, shipping does not', async (t, store) => {
    await store.createProduct('a', stocked(10))
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
}
