import { decimal } from '../../domain/money.ts'
import type { Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, item, onHand, placing, purchase, stocked, untilLater } from './fixtures.ts'

/** The parts of a product that clients cache. They must not change without need. */
async function shown(store: Store, id: string) {
  const [{ version, modifiedAt }, revision] = await Promise.all([store.product(id), store.revision()])
  return { version, modifiedAt, revision }
}

export function stockContract(rule: Rule): void {
  rule('a new product has nothing on hand unless its draft says so', async (t, store) => {
    await store.createProduct('none', draft())
    await store.createProduct('some', stocked('17.500'))
    t.equal(await onHand(store, 'none'), '0')
    t.equal(await onHand(store, 'some'), '17.5')
    t.match(await store.stock('some'), { productId: 'some', version: 1 })
    await t.rejects(store.stock('other'), { code: 'product-not-found' })
  })

  rule('a draft without a number on hand leaves the stock as it is', async (t, store) => {
    await store.createProduct('a', stocked(5))
    const before = await store.stock('a')
    t.equal((await store.putProduct('a', draft(), {})).product.availability, 'in-stock')
    t.same(await store.stock('a'), before)
    await store.putProduct('a', stocked(7), {})
    t.match(await store.stock('a'), { onHand: '7', version: before.version + 1 })
  })

  rule('stock is set at the version that was expected, and only there', async (t, store) => {
    await store.createProduct('a', draft())
    const set = await store.putStock('a', decimal('40'), { version: 1 })
    t.match(set, { productId: 'a', onHand: '40', version: 2 })
    t.same(await store.stock('a'), set)
    await t.rejects(store.putStock('a', decimal('41'), { version: 1 }), { code: 'precondition-failed' })
    await t.rejects(store.putStock('a', decimal('41'), { exists: false }), { code: 'precondition-failed' })
    await store.putStock('a', decimal('42'), { exists: true })
    t.equal(await onHand(store, 'a'), '42')
  })

  rule('the stock of a product that is not there is not found or gone, whatever was expected', async (t, store) => {
    await t.rejects(store.putStock('a', decimal('1'), { version: 1 }), { code: 'product-not-found' })
    await store.createProduct('a', draft())
    await store.deleteProduct('a', {})
    await t.rejects(store.putStock('a', decimal('1'), { exists: true }), { code: 'product-deleted' })
  })

  rule('selling changes the stock and not the product, until its availability flips', async (t, store) => {
    await store.createProduct('a', stocked(3))
    const before = await shown(store, 'a')
    await untilLater()
    await store.placeOrder(placing('a', 1))
    t.match(await store.stock('a'), { onHand: '2', version: 2 })
    t.same(await shown(store, 'a'), before)
    const { order } = await store.placeOrder(placing('a', 2))
    const empty = await shown(store, 'a')
    t.match(await store.product('a'), { availability: 'out-of-stock', version: before.version + 1 })
    t.ok(empty.modifiedAt > before.modifiedAt)
    t.ok(empty.revision.revision > before.revision.revision)
    await untilLater()
    await store.setOrderStatus(order.id, 'cancelled', {})
    const full = await shown(store, 'a')
    t.match(await store.product('a'), { availability: 'in-stock', version: empty.version + 1 })
    t.ok(full.modifiedAt > empty.modifiedAt)
    t.ok(full.revision.revision > empty.revision.revision)
  })

  rule(
    'the sender of an order hears how many events it makes: its own, and one for each product whose availability changes',
    async (t, store) => {
      const ids = Array.from({ length: 40 }, (_, i) => `p${i}`)
      for (const id of ids) await store.createProduct(id, stocked(1))
      const heard: number[] = []
      const options = { sender: 'me', onEvents: (events: number) => heard.push(events) }
      const all = purchase(ids.map((id) => item(id)))
      const { order } = await store.placeOrder({ order: all, status: 'accepted', ...options })
      await t.rejects(store.placeOrder({ order: all, status: 'accepted', ...options }), { code: 'order-refused' })
      await store.changeOrder(order.id, purchase([item('p0')]), {}, options)
      await store.setOrderStatus(order.id, 'shipped', {}, options)
      const small = await store.placeOrder({ ...placing('p1'), ...options })
      await store.shipOrder(small.order.id, {}, {}, options)
      t.same(heard, [41, 40, 2, 2, 2])
    }
  )

  rule('each order makes a version of the stock, also when many are placed at once', async (t, store) => {
    await store.createProduct('a', stocked(20))
    await Promise.all(Array.from({ length: 20 }, () => store.placeOrder(placing('a', 1))))
    t.match(await store.stock('a'), { onHand: '0', version: 21 })
  })

  rule('a stock write flips the availability, or leaves the product alone', async (t, store) => {
    await store.createProduct('a', draft())
    await store.putStock('a', decimal('3'), {})
    t.match(await store.product('a'), { availability: 'in-stock', version: 2 })
    const before = await shown(store, 'a')
    await untilLater()
    await store.putStock('a', decimal('0.001'), {})
    t.same(await shown(store, 'a'), before)
    await store.putStock('a', decimal('0'), {})
    t.match(await store.product('a'), { availability: 'out-of-stock', version: 3 })
  })

  rule('a product on backorder sells below zero, and says so', async (t, store) => {
    await store.createProduct('a', stocked(1, { backorder: true, unit: 'KGM' }))
    t.equal((await store.product('a')).availability, 'in-stock')
    await store.placeOrder(placing('a', '2.5'))
    t.equal(await onHand(store, 'a'), '-1.5')
    t.equal((await store.product('a')).availability, 'backorder')
  })

  rule('quantities are exact: a thousand thousandths are one, and huge numbers keep their last digit', async (t, store) => {
    await store.createProduct('a', stocked('1.1', { unit: 'KGM' }))
    for (let i = 0; i < 10; i++) await store.placeOrder(placing('a', '0.1'))
    t.equal(await onHand(store, 'a'), '0.1')
    await store.putStock('a', decimal('999999999999.001'), {})
    await store.placeOrder(placing('a', '0.002'))
    t.equal(await onHand(store, 'a'), '999999999998.999')
  })

  rule('an order that takes the last of several products raises the revision once, and all of them have its time', async (t, store) => {
    const ids = ['a', 'b', 'c']
    for (const id of ids) await store.createProduct(id, stocked(1))
    const { revision } = await store.revision()
    await store.placeOrder(placing('a', 1, { order: purchase(ids.map((id) => item(id, 1))) }))
    const after = await store.revision()
    t.equal(after.revision, revision + 1)
    for (const id of ids) t.match(await store.product(id), { availability: 'out-of-stock', modifiedAt: after.modifiedAt })
  })
}
