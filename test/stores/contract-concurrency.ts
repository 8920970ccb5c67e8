import type { Test } from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { add, compare, type Decimal, decimal, plain, zero } from '../../domain/money.ts'
import { heldBy } from '../../domain/placing.ts'
import type { Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, everyOrder, item, onHand, placing, purchase, stocked } from './fixtures.ts'

/** The number of attempts that succeeded. All others must be refused with this code. */
async function successes(t: Test, attempts: readonly Promise<unknown>[], code: string): Promise<number> {
  const settled = await Promise.allSettled(attempts)
  const reasons = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  for (const reason of reasons) if (!(reason instanceof DomainError) || reason.code !== code) t.fail(String(reason))
  return settled.length - reasons.length
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

export function concurrencyContract(rule: Rule): void {
  rule('of fifty replaces of one version, one succeeds', async (t, store) => {
    await store.createProduct('a', draft())
    const attempts = times(50, (i) => store.putProduct('a', draft({ name: `by ${i}` }), { version: 1 }))
    t.equal(await successes(t, attempts, 'precondition-failed'), 1)
    t.equal((await store.product('a')).version, 2)
  })

  rule('of fifty creations of one product, one succeeds, and the same for one GTIN', async (t, store) => {
    t.equal(
      await successes(
        t,
        times(50, () => store.createProduct('a', draft())),
        'product-exists'
      ),
      1
    )
    t.equal(
      await successes(
        t,
        times(50, () => store.putProduct('b', draft(), { exists: false })),
        'precondition-failed'
      ),
      1
    )
    const attempts = times(50, (i) => store.createProduct(`g${i}`, draft({ gtin: '4006381333931' })))
    t.equal(await successes(t, attempts, 'gtin-taken'), 1)
  })

  rule('of a hundred orders for the last ten pieces, ten are placed', async (t, store) => {
    await store.createProduct('a', stocked(10))
    t.equal(
      await successes(
        t,
        times(100, () => store.placeOrder(placing('a'))),
        'order-refused'
      ),
      10
    )
    t.equal(await onHand(store, 'a'), '0')
    t.equal((await store.orders({ limit: 100 })).items.length, 10)
    t.match(await store.product('a'), { availability: 'out-of-stock', version: 2 })
  })

  rule('orders for the same products in opposite line order never block each other', async (t, store) => {
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await store.createProduct(id, stocked(200))
    const orders = times(100, (i) => purchase((i % 2 ? ids : ids.toReversed()).map((id) => item(id))))
    t.equal(
      await successes(
        t,
        orders.map((order) => store.placeOrder({ order, status: 'accepted' })),
        'order-refused'
      ),
      100
    )
    for (const id of ids) t.equal(await onHand(store, id), '100')
  })

  rule('a hundred posts with one idempotency key make one order', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const idempotency = { scope: 'guest', key: 'k', fingerprint: 'f' }
    const placed = await Promise.all(times(100, () => store.placeOrder(placing('a', 1, { idempotency }))))
    t.equal(placed.filter(({ replayed }) => !replayed).length, 1)
    t.equal(new Set(placed.map(({ order }) => order.id)).size, 1)
    t.equal(await onHand(store, 'a'), '999')
  })

  rule('a hundred posts with one order number make one order', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const order = purchase([item('a')], { orderNumber: 'PO-1' })
    const placed = await Promise.all(times(100, () => store.placeOrder({ order, customer: 'acme', status: 'accepted' })))
    t.equal(placed.filter(({ outcome }) => outcome === 'placed').length, 1)
    t.equal((await store.orders({ limit: 10 })).items.length, 1)
    t.equal(await onHand(store, 'a'), '999')
  })

  rule('fifty cancellations of one order give its stock back once', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(placing('a', 4))
    await Promise.all(times(50, () => store.setOrderStatus(order.id, 'cancelled', {})))
    t.equal(await onHand(store, 'a'), '10')
    t.equal((await store.order(order.id)).version, 2)
  })

  rule('changes of one order at the same moment follow one another, each on what the one before it left', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const { order } = await store.placeOrder(placing('a', 4))
    const changed = await Promise.all(times(20, (i) => store.changeOrder(order.id, purchase([item('a', i + 1)]), {})))
    t.same(
      changed.map(({ version }) => version).sort((a, b) => a - b),
      times(20, (i) => i + 2)
    )
    const last = changed.find(({ version }) => version === 21)
    t.same(await store.order(order.id), last)
    t.equal(await onHand(store, 'a'), String(1000 - Number(last?.items[0]?.quantity)))
    const ends = await Promise.allSettled([
      store.setOrderStatus(order.id, 'shipped', { version: 21 }),
      store.setOrderStatus(order.id, 'cancelled', { version: 21 })
    ])
    t.same(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    t.equal((await store.order(order.id)).version, 22)
  })

  rule('a number that is given up at the same moment as others take it stands for one order', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const numbered = (orderNumber: string, quantity = 1) => purchase([item('a', quantity)], { orderNumber })
    for (let round = 0; round < 10; round++) {
      const place = (quantity?: number) => store.placeOrder({ order: numbered(`${round}`, quantity), customer: 'acme', status: 'accepted' })
      const { order } = await place()
      const { order: other } = await store.placeOrder({ order: numbered(`${round} other`), customer: 'acme', status: 'accepted' })
      const attempts = [
        round % 2 ? store.setOrderStatus(order.id, 'cancelled', {}) : store.changeOrder(order.id, numbered(`${round} new`), {}),
        store.changeOrder(other.id, numbered(`${round}`, 2), {}),
        place(3)
      ]
      for (const result of await Promise.allSettled(attempts)) {
        if (result.status === 'rejected') t.equal(result.reason.code, 'order-number-taken')
      }
      const active = (await everyOrder(store)).filter(({ orderNumber, status }) => orderNumber === `${round}` && status === 'accepted')
      t.ok(active.length <= 1, `${active.length} orders have the number`)
      const repeated = await place(Number(active[0]?.items[0]?.quantity ?? 1))
      t.equal(repeated.outcome, active.length === 0 ? 'placed' : 'repeated')
    }
  })

  rule('a refused order never touches its neighbours', async (t, store) => {
    await store.createProduct('a', stocked(50))
    await store.createProduct('empty', draft())
    const wanted = times(100, (i) => (i % 2 ? purchase([item('a')]) : purchase([item('a'), item('empty')])))
    const settled = await Promise.allSettled(wanted.map((order) => store.placeOrder({ order, status: 'accepted' })))
    t.same(
      settled.map(({ status }) => status),
      times(100, (i) => (i % 2 ? 'fulfilled' : 'rejected'))
    )
    t.equal(await onHand(store, 'a'), '0')
  })

  rule('a write is read as soon as it is acknowledged', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    await Promise.all(
      times(50, async () => {
        const { order } = await store.placeOrder(placing('a'))
        t.same(await store.order(order.id), order)
      })
    )
  })

  rule(
    'after orders are placed, changed and ended at once, the stock and the quantities of live orders add up to the stock at the start',
    async (t, store) => {
      const seed = Date.now() % 2 ** 31
      t.comment(`seed ${seed}`)
      const start = new Map<string, Decimal>()
      for (const [i, id] of ['a', 'b', 'c', 'd', 'e'].entries()) {
        const product = await store.createProduct(id, stocked(40, { backorder: i === 4, unit: 'KGM' }))
        start.set(product.id, decimal('40'))
      }
      await mix(t, store, [...start.keys()], makeRandom(seed))
      const orders = await everyOrder(store)
      for (const [id, quantity] of start) {
        const now = await onHand(store, id)
        const held = orders.reduce((sum, order) => add(sum, heldBy(order).get(id) ?? zero), zero)
        t.equal(plain(add(now, held)), quantity, `${id}: ${now} on hand, ${held} held`)
        if (id !== 'e') t.ok(compare(now, zero) >= 0, `${id} was never oversold`)
      }
    }
  )
}

/** Mulberry32: a number from 0 to below `n`, the same sequence for the same seed. */
function makeRandom(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}

async function mix(t: Test, store: Store, products: readonly string[], random: (n: number) => number): Promise<void> {
  const placed: string[] = []
  const order = () => purchase(times(1 + random(3), () => item(products[random(5)] ?? '', `${random(4)}.${1 + random(999)}`.slice(0, 5))))
  const act = async () => {
    const id = placed[random(placed.length)]
    const kind = random(10)
    if (id === undefined || kind < 5) placed.push((await store.placeOrder({ order: order(), status: 'accepted' })).order.id)
    else if (kind < 7) await store.changeOrder(id, order(), {})
    else await store.setOrderStatus(id, kind < 9 ? 'cancelled' : 'shipped', {})
  }
  const worker = async () => {
    for (let i = 0; i < 25; i++) {
      await act().catch((error: unknown) => {
        if (!(error instanceof DomainError) || !['order-refused', 'transition-refused'].includes(error.code)) t.fail(String(error))
      })
    }
  }
  await Promise.all(times(16, worker))
}
