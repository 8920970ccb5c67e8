import { add, compare, type Decimal, decimal, zero } from '../../domain/money.ts'
import type { Order, PurchaseOrderItem } from '../../domain/order.ts'
import type { Rule } from './contract.ts'
import { everyOrder, item, onHand, purchase, stocked } from './fixtures.ts'

const lenient = { status: 'accepted', customer: 'acme', handling: 'lenient' } as const

const statuses = ({ items }: Order) => items.map(({ lineStatus, quantity }) => `${lineStatus} ${quantity}`)

export function lenientContract(rule: Rule): void {
  const mixed = (more: Partial<PurchaseOrderItem> = {}) =>
    purchase([item('a', 5), item('b', 2), item('c', 4), item('d', 1, { unitPrice: decimal('9'), ...more })], { orderNumber: 'PO-1' })

  rule('a lenient order takes what is available, and says so of each line', async (t, store) => {
    await store.createProduct('a', stocked(3))
    await store.createProduct('b', stocked(0))
    await store.createProduct('c', stocked(1, { backorder: true }))
    await store.createProduct('d', stocked(1))
    await t.rejects(store.placeOrder({ ...lenient, handling: undefined, order: mixed() }), { code: 'order-refused' })

    const dryRun = await store.placeOrder({ ...lenient, order: mixed(), mode: 'dry-run' })
    t.same(statuses(dryRun.order), ['changed 3', 'rejected 0', 'backordered 4', 'changed 1'])
    t.equal(await onHand(store, 'a'), '3', 'a dry run takes nothing')

    const { order, outcome } = await store.placeOrder({ ...lenient, order: mixed() })
    t.equal(outcome, 'placed')
    t.same(statuses(order), statuses(dryRun.order))
    t.match(order.items[0], { orderedQuantity: '5', reason: 'Only 3 of the 5 ordered are available.' })
    t.equal(order.total, '79.92')
    t.same(await store.order(order.id), order, 'it is read as it was answered')
    for (const [id, left] of Object.entries({ a: '0', b: '0', c: '-3', d: '0' })) t.equal(await onHand(store, id), left, id)
    const [summary] = (await store.orders({ limit: 1, lines: true })).items
    t.match(summary, { itemCount: 4, total: '79.92' })
    t.same(
      summary?.lines?.map(({ productId }) => productId),
      ['a', 'c', 'd'],
      'the summary has the lines of which there is something'
    )
  })

  rule('the same document under the same number finds the order, however the stock is by then', async (t, store) => {
    for (const id of ['a', 'b', 'c', 'd']) await store.createProduct(id, stocked(id === 'b' ? 0 : 3))
    const { order } = await store.placeOrder({ ...lenient, order: mixed() })
    await store.putStock('b', decimal('50'), {})
    for (const handling of ['lenient', undefined] as const) {
      for (const mode of ['dry-run', undefined] as const) {
        t.same(await store.placeOrder({ ...lenient, handling, mode, order: mixed() }), { order, outcome: 'repeated', replayed: false })
      }
      const other = { ...lenient, handling, order: mixed({ unitPrice: decimal('8') }) }
      await t.rejects(store.placeOrder(other), { code: 'order-number-taken' }, 'another price was expected')
    }
    t.equal(await onHand(store, 'b'), '50')
  })

  rule('an idempotency key replays an order with the answers of its lines', async (t, store) => {
    await store.createProduct('a', stocked(3))
    const idempotency = { scope: 's', key: 'k', fingerprint: 'f' }
    const placing = { ...lenient, order: purchase([item('a', 5)]), idempotency }
    const { order } = await store.placeOrder(placing)
    t.same(await store.placeOrder(placing), { order, outcome: 'placed', replayed: true })
    t.same(statuses(order), ['changed 3'])
  })

  rule('a change decides anew, all or nothing: the answers of lines are gone, and what they took is not', async (t, store) => {
    await store.createProduct('a', stocked(3, { price: decimal('1') }))
    await store.createProduct('b', stocked(0))
    const { order } = await store.placeOrder({ ...lenient, order: purchase([item('a', 5), item('b', 2)]) })
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 5)]), {}), { code: 'order-refused' })
    const changed = await store.changeOrder(order.id, purchase([item('a', 2, { unitPrice: decimal('1') })]), { version: 1 })
    t.match(changed, { version: 2, items: [{ line: 1, quantity: '2', unitPrice: '1' }] })
    for (const name of ['lineStatus', 'orderedQuantity', 'reason', 'expectedPrice']) t.notOk(name in (changed.items[0] ?? {}), name)
    t.equal(await onHand(store, 'a'), '1')
    await store.deleteProduct('b', {})
    await t.rejects(store.changeOrder(order.id, purchase([item('b', 1)]), {}), {
      code: 'invalid-order',
      faults: [{ code: 'unknown-product' }]
    })
  })

  rule('an order of which lines were rejected gives back what it has', async (t, store) => {
    await store.createProduct('a', stocked(3))
    await store.createProduct('b', stocked(0))
    const { order } = await store.placeOrder({ ...lenient, order: purchase([item('a', 5), item('b', 2)]) })
    await store.setOrderStatus(order.id, 'cancelled', {})
    t.same([await onHand(store, 'a'), await onHand(store, 'b')], ['3', '0'])
  })

  rule('of a hundred lenient orders at once for fifty pieces, all pieces are sold and none twice', async (t, store) => {
    await store.createProduct('a', stocked(50))
    await store.createProduct('b', stocked(1_000))
    const order = purchase([item('a', 3), item('b', 1)])
    const placed = await Promise.all(Array.from({ length: 100 }, () => store.placeOrder({ ...lenient, order })))
    t.ok(placed.every(({ outcome }) => outcome === 'placed'))
    const orders = await everyOrder(store)
    t.equal(orders.length, 100)
    const sold = orders.flatMap(({ items }) => items.filter(({ productId }) => productId === 'a'))
    const total = sold.reduce<Decimal>((sum, { quantity }) => add(sum, quantity), zero)
    t.equal(compare(total, decimal('50')), 0, `${total} were sold`)
    t.same([await onHand(store, 'a'), await onHand(store, 'b')], ['0', '900'])
    const counts = (status: string) => sold.filter(({ lineStatus }) => lineStatus === status).length
    t.same([counts('accepted'), counts('changed'), counts('rejected')], [16, 1, 83])
  })

  rule('a large order is answered line by line', async (t, store) => {
    await store.createProduct('a', stocked(1_500))
    const order = purchase(
      Array.from({ length: 2_000 }, () => item('a', 1)),
      { orderNumber: 'PO-1' }
    )
    const placed = await store.placeOrder({ ...lenient, order })
    t.equal(placed.order.items.filter(({ lineStatus }) => lineStatus === 'rejected').length, 500)
    t.equal(await onHand(store, 'a'), '0')
    t.match(await store.placeOrder({ ...lenient, order }), { outcome: 'repeated', order: { id: placed.order.id } })
  })
}
