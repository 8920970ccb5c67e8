import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { parses } from '../../domain/deferred.ts'
import { DomainError } from '../../domain/errors.ts'
import { add, plain, zero } from '../../domain/money.ts'
import { heldBy } from '../../domain/placing.ts'
import type { Placed, Placing, Store } from '../../domain/store.ts'
import { openWithWriter } from '../../stores/postgres/store.ts'
import { execute, postgresFor } from './embedded.ts'
import { everyOrder, item, onHand, placing, purchase, shopCurrency, stocked } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'

const server = await postgresFor(t)

async function open(t: Test, options: { poolSize?: number } = {}) {
  const url = await newShopDatabase(server)
  const parts = await openWithWriter({ url, currency: shopCurrency, ...options })
  t.teardown(() => parts.store.close())
  await parts.store.createProduct('a', stocked(1_000_000))
  return { ...parts, url }
}

/** So large that the thread of its own writes it. */
function large(note: string, more: Partial<Placing> = {}): Placing {
  const lines = Array.from({ length: 200 }, () => item('a'))
  return { order: purchase(lines, { notes: [note] }), status: 'accepted', ...more }
}

async function addsUp(t: Test, store: Store): Promise<void> {
  const held = (await everyOrder(store)).reduce((sum, order) => add(sum, heldBy(order).get('a') ?? zero), zero)
  t.equal(plain(add(await onHand(store, 'a'), held)), '1000000')
}

/** Places an order again and again while the shop is out of reach, as a client does. */
async function untilPlaced(store: Store, order: Placing): Promise<Placed> {
  for (;;) {
    try {
      return await store.placeOrder(order)
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'store-unavailable')) throw error
      await sleep(20)
    }
  }
}

t.test('a thread that is killed loses nothing acknowledged, answers the rest by what is known, and is replaced', async (t) => {
  const { store, orders } = await open(t)
  for (let round = 0; round < 3; round++) {
    const key = (i: number) => ({ scope: 's', key: `${round} ${i}`, fingerprint: 'f' })
    const attempts = Array.from({ length: 150 }, (_, i) => store.placeOrder(large(`${round} ${i}`, { idempotency: key(i) })))
    await Promise.race(attempts)
    const killed = orders.kill()
    const small = await store.placeOrder(placing('a'))
    t.equal(small.outcome, 'placed', 'small orders go on')
    const settled = await Promise.allSettled(attempts)
    await killed
    const there = new Set((await everyOrder(store)).flatMap(({ notes }) => notes))
    const outcomes = settled.map((result) => {
      if (result.status === 'fulfilled') return 'placed'
      t.match(result.reason, { code: 'store-unavailable' })
      return /Nothing was stored/.test(result.reason.message) ? 'not' : 'unknown'
    })
    t.ok(
      outcomes.includes('placed') && outcomes.includes('unknown'),
      `placed, not, unknown: ${['placed', 'not', 'unknown'].map((one) => outcomes.filter((other) => other === one).length)}`
    )
    for (const [i, result] of settled.entries()) {
      if (outcomes[i] === 'unknown') t.match(result, { reason: { message: /same Idempotency-Key/ } })
      else if (there.has(`${round} ${i}`) !== (outcomes[i] === 'placed')) t.fail(`order ${i} was answered as "${outcomes[i]}"`)
    }
    for (const i of outcomes.keys()) await untilPlaced(store, large(`${round} ${i}`, { idempotency: key(i) }))
    t.equal((await everyOrder(store)).length, (round + 1) * 151, 'each is there once')
    await addsUp(t, store)
  }
  await store.ping()
})

t.test('changes that a killed thread had are answered by what is known', async (t) => {
  const { store, orders } = await open(t)
  const placed = await Promise.all(Array.from({ length: 60 }, () => store.placeOrder(placing('a', 2))))
  const attempts = placed.map(({ order }, i) =>
    i % 2
      ? store.setOrderStatus(order.id, 'cancelled', { version: 1 })
      : store.changeOrder(order.id, purchase([item('a', 5)]), { version: 1 })
  )
  await Promise.race(attempts)
  await orders.kill()
  for (const [i, result] of (await Promise.allSettled(attempts)).entries()) {
    const { version } = await store.order(placed[i]?.order.id ?? '')
    if (result.status === 'fulfilled') t.equal(version, 2)
    else if (/Nothing was stored/.test(result.reason.message)) t.equal(version, 1)
    else t.match(result.reason, { code: 'store-unavailable', message: /does not know/ })
  }
  await addsUp(t, store)
})

t.test('all that was taken is written before the store closes', async (t) => {
  const { store, url } = await open(t)
  const { order } = await store.placeOrder(placing('a'))
  const attempts = [
    ...Array.from({ length: 30 }, (_, i) => store.placeOrder(large(`${i}`))),
    ...Array.from({ length: 30 }, () => store.placeOrder(placing('a'))),
    store.setOrderStatus(order.id, 'shipped', {})
  ]
  const closed = store.close()
  t.equal((await Promise.all(attempts)).length, 61)
  await closed
  await t.rejects(store.placeOrder(large('late')), { code: 'store-unavailable' })
  await t.rejects(store.setOrderStatus(order.id, 'completed', {}), { code: 'store-unavailable' })
  t.same(await execute(url, 'SELECT count(*)::int AS orders FROM purchase_order'), [{ orders: 61 }])
  const sql = 'SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  while ((await execute<{ open: number }>(url, sql))[0]?.open !== 0) await sleep(10)
})

t.test('the threads together open no more connections than the store may', async (t) => {
  const { store, url } = await open(t, { poolSize: 3 })
  let hasEnded = false
  const work = Promise.all([
    ...Array.from({ length: 20 }, (_, i) => store.placeOrder(large(`${i}`))),
    ...Array.from({ length: 200 }, async () => {
      const { order } = await store.placeOrder(placing('a'))
      await store.setOrderStatus(order.id, 'shipped', {})
      await store.order(order.id)
    })
  ]).finally(() => (hasEnded = true))
  const sql = "SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tradepost'"
  let most = 0
  while (!hasEnded) most = Math.max(most, (await execute<{ open: number }>(url, sql))[0]?.open ?? 0)
  await work
  t.ok(most >= 2 && most <= 3, `${most} were open`)
})

t.test('small orders that name a large one by its number or its key are answered, and the serving thread parses none', async (t) => {
  const { store } = await open(t)
  const idempotency = { scope: 's', key: 'k', fingerprint: 'f' }
  const { order: first } = await store.placeOrder({
    order: purchase(
      Array.from({ length: 2_000 }, () => item('a')),
      { orderNumber: 'PO-1' }
    ),
    status: 'accepted',
    customer: 'acme',
    idempotency
  })
  let parsed = 0
  const count = () => (parsed += 1)
  parses.subscribe(count)
  t.teardown(() => parses.unsubscribe(count))
  const numbered = placing('a', 1, { customer: 'acme', order: purchase([item('a')], { orderNumber: 'PO-1' }) })
  const keyed = placing('a', 1, { idempotency })
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, (_, i) => store.placeOrder([numbered, keyed, placing('a')][i % 3] ?? numbered))
  )
  t.equal(parsed, 0)
  for (const [i, result] of results.entries()) {
    if (i % 3 === 0) t.match(result, { reason: { code: 'order-number-taken', orderId: first.id } })
    else
      t.match(result, {
        value: i % 3 === 1 ? { replayed: true, order: { id: first.id, version: 1 } } : { outcome: 'placed', replayed: false }
      })
  }
  await addsUp(t, store)
})

t.test('a change that the database itself refuses fails alone', async (t) => {
  const { store } = await open(t)
  const placed = await Promise.all(Array.from({ length: 30 }, () => store.placeOrder(placing('a', 1, { customer: 'acme' }))))
  const results = await Promise.allSettled(
    placed.map(({ order }, i) => store.changeOrder(order.id, purchase([item('a', 2)], { orderNumber: i === 7 ? 'no\0text' : `${i}` }), {}))
  )
  t.same(
    results.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])),
    [7]
  )
  await addsUp(t, store)
})
