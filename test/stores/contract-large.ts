import { decimal } from '../../domain/money.ts'
import type { Placing } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { item, onHand, purchase, stocked } from './fixtures.ts'

const lines = 300
const many = (count = lines, productId = 'a') => Array.from({ length: count }, () => item(productId))
const idempotency = { scope: 'acme POST /order', key: 'k', fingerprint: 'f' }
const stamped = { customer: 'acme', status: 'accepted' } as const

/** Large orders may be written in another thread than small ones. The results must be the same. */
export function largeContract(rule: Rule): void {
  rule('a large order is refused with all that is wrong, where it is, as a small one', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    await store.createProduct('short', stocked(1))
    const place = (items: readonly ReturnType<typeof item>[]) => store.placeOrder({ order: purchase(items), status: 'accepted' })
    for (const count of [2, lines]) {
      await t.rejects(place([...many(count), item('none'), item('short', 2)]), {
        code: 'invalid-order',
        message: /2 errors/,
        faults: [
          { code: 'unknown-product', at: ['item', count + 1] },
          { code: 'out-of-stock', at: ['item', count + 2, 'quantity'] }
        ]
      })
      await t.rejects(place([...many(count), item('a', 1, { unitPrice: decimal('1') })]), { code: 'order-refused', faults: { length: 1 } })
    }
    t.equal(await onHand(store, 'a'), '1000')
  })

  rule('a large order is replayed by its key, repeated by its number, and its number is taken', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const order = purchase(many(), { orderNumber: 'PO-1' })
    const { order: first, ...placed } = await store.placeOrder({ order, ...stamped, idempotency })
    t.same(placed, { outcome: 'placed', replayed: false })
    t.equal(first.items.length, lines)
    const replayed = await store.placeOrder({ order, ...stamped, idempotency })
    t.same([replayed.replayed, replayed.order], [true, first])
    const repeated = await store.placeOrder({ order, ...stamped })
    t.same([repeated.outcome, repeated.order], ['repeated', first])
    for (const count of [1, lines + 1]) {
      const other = purchase(many(count), { orderNumber: 'PO-1' })
      await t.rejects(store.placeOrder({ order: other, ...stamped }), { code: 'order-number-taken', orderId: first.id })
    }
    t.equal(await onHand(store, 'a'), String(1000 - lines))
  })

  rule('a large order that is named is not read unless that is allowed, and the size of it is told', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const order = purchase(many(), { orderNumber: 'PO-1' })
    const { order: first } = await store.placeOrder({ order, ...stamped, idempotency })
    const small = { order: purchase([item('a')], { orderNumber: 'PO-1' }), ...stamped }
    const again = { order: purchase([item('a')]), ...stamped, idempotency }
    const failed = (placing: Placing) =>
      store.placeOrder(placing).then(
        () => undefined,
        (error) => error
      )
    for (const named of [small, { ...small, mode: 'dry-run' } as const, { order, ...stamped }, again]) {
      const { size } = await failed({ ...named, mostNamed: 1_000 })
      t.ok(size > 50 * lines, `${size} bytes`)
      t.match(await failed({ ...named, mostNamed: size - 1 }), { name: 'LargeRead', size })
      t.not((await failed({ ...named, mostNamed: size }))?.name, 'LargeRead')
    }
    t.match(await store.placeOrder({ ...again, mostNamed: 1_000_000 }), { replayed: true, order: { id: first.id } })
    t.match(await failed({ ...small, mostNamed: 1_000_000 }), { code: 'order-number-taken', orderId: first.id })
    const other = { ...idempotency, fingerprint: 'other' }
    t.match(await failed({ ...small, idempotency: other, mostNamed: 0 }), { code: 'idempotency-key-reused' }, 'which needs no order')
    t.equal((await store.placeOrder({ ...again, idempotency: { ...other, key: 'new' }, mostNamed: 0 })).outcome, 'placed')
    t.equal(await onHand(store, 'a'), String(999 - lines))
  })

  rule('whole orders and shipments that are larger than allowed are not read, and their size is told', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const { order } = await store.placeOrder({ order: purchase(many()), ...stamped })
    await store.placeOrder({ order: purchase([item('a')]), ...stamped })
    await store.shipOrder(order.id, {}, {})
    const reads: Record<string, (most?: number) => Promise<unknown>> = {
      'a page with one order': (most) => store.wholeOrders({ limit: 1, order: 'oldest' }, most),
      'a page with both': (most) => store.wholeOrders({ limit: 2 }, most),
      'a shipment': (most) => store.shipment(order.id, 1, most)
    }
    for (const [what, read] of Object.entries(reads)) {
      const whole = await read()
      const { name, size } = await read(1_000).then(
        () => ({ name: 'nothing', size: 0 }),
        (error) => error
      )
      t.equal(name, 'LargeRead', what)
      t.ok(size > 50 * lines, `${what}: ${size} bytes`)
      await t.rejects(read(size - 1), { name: 'LargeRead', size }, what)
      t.equal(JSON.stringify(await read(size)), JSON.stringify(whole), what)
    }
    t.equal((await store.wholeOrders({ limit: 1 }, 10_000)).items.length, 1)
    t.equal(await store.shipment(order.id, 2, 0), undefined)
  })

  rule('a small order that stands as a long one, since its names are long, is repeated by its number', async (t, store) => {
    await store.createProduct('a', stocked(1000, { name: 'long '.repeat(200) }))
    const order = purchase(many(50), { orderNumber: 'PO-1' })
    const { order: first } = await store.placeOrder({ order, ...stamped })
    t.match(await store.placeOrder({ order, ...stamped }), { outcome: 'repeated', order: { id: first.id } })
    t.equal(await onHand(store, 'a'), '950')
  })

  rule('a large order is changed, shipped and cancelled as a small one', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const { order } = await store.placeOrder({ order: purchase(many()), ...stamped })
    const changed = await store.changeOrder(order.id, purchase(many(lines - 1)), { version: 1 })
    t.same([changed.version, changed.items.length], [2, lines - 1])
    t.same(await store.order(order.id), changed)
    await t.rejects(store.changeOrder(order.id, purchase(many()), { version: 1 }), { code: 'precondition-failed' })
    await t.rejects(store.changeOrder(order.id, purchase(many(lines, 'none')), {}), { code: 'invalid-order', faults: { length: 100 } })
    t.equal(await onHand(store, 'a'), String(1000 - lines + 1))
    const cancelled = await store.setOrderStatus(order.id, 'cancelled', { version: 2 })
    t.same([cancelled.status, cancelled.version, cancelled.items.length], ['cancelled', 3, lines - 1])
    t.equal(await onHand(store, 'a'), '1000')
    const { order: second } = await store.placeOrder({ order: purchase(many()), ...stamped })
    const shipped = await store.setOrderStatus(second.id, 'shipped', {})
    t.same(await store.order(second.id), shipped)
    t.same(await store.setOrderStatus(second.id, 'shipped', {}), shipped, 'once more changes nothing')
    await t.rejects(store.setOrderStatus(second.id, 'cancelled', {}), { code: 'transition-refused' })
  })
}

/** The rules of the queue before the writer. */
export function queueContract(rule: Rule): void {
  rule(
    'a small order does not wait for all changes of a large order that came before it, which are made one after the other',
    async (t, store) => {
      await store.createProduct('a', stocked(100_000))
      const { order } = await store.placeOrder({ order: purchase(many(5_000)), ...stamped })
      const placeSmall = () => store.placeOrder({ order: purchase([item('a')]), ...stamped })
      // The first small order also opens connections.
      await placeSmall()
      const done: string[] = []
      const notes = Array.from({ length: 40 }, (_, i) => `note ${i}`)
      const changes = notes.map((note) => store.setOrderStatus(order.id, 'accepted', {}, { details: { note } }).then(() => done.push(note)))
      const small = placeSmall().then(() => done.push('small'))
      await Promise.all([...changes, small])
      t.not(done.at(-1), 'small')
      t.same(
        done.filter((one) => one !== 'small'),
        notes
      )
      const { version, sellerNote } = await store.order(order.id)
      t.same([version, sellerNote], [41, 'note 39'])
    }
  )

  rule('a write of a product does not wait for all those of another sender that came before it', async (t, store) => {
    const done: string[] = []
    const create = (sender: string, id: string) =>
      store.createProduct(id, stocked(1, { description: 'x'.repeat(100_000) }), { sender }).then(() => done.push(sender))
    await Promise.all([...Array.from({ length: 80 }, (_, i) => create('crowd', `a${i}`)), create('other', 'b')])
    t.ok(done.indexOf('other') < 60, `${done.indexOf('other')} were written before it`)
  })

  rule('an order does not wait for all orders of another sender that came before it', async (t, store) => {
    await store.createProduct('a', stocked(100_000))
    for (const count of [2_000, 200]) {
      const done: string[] = []
      const place = (sender: string) =>
        store.placeOrder({ order: purchase(many(count)), status: 'accepted', sender }).then(() => done.push(sender))
      await Promise.all([...Array.from({ length: 40 }, () => place('crowd')), place('other')])
      t.ok(done.indexOf('other') < 30, `${done.indexOf('other')} orders of ${count} lines were placed before it`)
    }
  })
}
