import t, { type Test } from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { add, decimal, plain } from '../../domain/money.ts'
import type { Placed, Store } from '../../domain/store.ts'
import { Database } from '../../stores/postgres/database.ts'
import { migratePostgres } from '../../stores/postgres/migrations.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { storeContract } from './contract.ts'
import { keepsItsCurrency } from './currency.ts'
import { execute, postgresFor } from './embedded.ts'
import { draft, everyOrder, everything, item, onHand, placing, purchase, shopCurrency, stocked } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'
import { makeWebhook } from './webhook-fixtures.ts'

const server = await postgresFor(t)
const open = (url: string) => openPostgresStore({ url, currency: shopCurrency })

storeContract(t, async () => open(await newShopDatabase(server)))

/** Stores of so many replicas on one database, by default that of a new shop. */
async function replicas(t: Test, count: number, database = newShopDatabase(server)): Promise<{ stores: readonly Store[]; url: string }> {
  const url = await database
  const stores = await Promise.all(Array.from({ length: count }, () => open(url)))
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  return { stores, url }
}

/** Each of the attempts at the same time, shared out among the stores. */
function shared<T>(stores: readonly Store[], count: number, act: (store: Store, i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => {
      const store = stores[i % stores.length]
      if (!store) throw new Error('no store')
      return act(store, i)
    })
  )
}

t.test('ten replicas that open one empty database at the same moment all succeed, and migrate it once', async (t) => {
  const { stores, url } = await replicas(t, 10, server.database())
  await shared(stores, 10, (store, i) => store.createProduct(`p${i}`, draft()))
  const [first] = stores
  t.equal((await first?.products({ limit: 20 }))?.items.length, 10)
  const migrations = await execute<{ number: number }>(url, 'SELECT number FROM migration ORDER BY number')
  t.same(
    migrations.map(({ number }) => number),
    migrations.map((_, i) => i + 1)
  )
  t.same(await migratePostgres(url), { from: migrations.length, to: migrations.length, applied: [] })
})

t.test('replicas share the webhooks, and take over those of a replica that was killed', async (t) => {
  const { stores, url } = await replicas(t, 4)
  const [first] = stores as readonly [Store]
  const made = await Promise.all(Array.from({ length: 12 }, (_, i) => makeWebhook(first, { customer: `c${i}` })))
  await first.createProduct('P', stocked(5))
  const claims = (await shared(stores, 4, (store, i) => store.claimWebhooks(`worker-${i}`, 5))).flat()
  const ids = claims.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length, 'none is claimed twice')
  const rest = await first.claimWebhooks('worker-0', 20, { serving: ids })
  t.equal(ids.length + rest.length, made.length)
  t.same(await first.claimWebhooks('another', 20), [])
  await execute(url, 'UPDATE webhook SET claimed_until = claimed_until - 30000')
  t.equal((await first.claimWebhooks('another', 20)).length, made.length)
})

t.test('a database that is newer than the code, or not in UTF-8, is refused and left alone', async (t) => {
  const { url } = await replicas(t, 1)
  await execute(url, "INSERT INTO migration (number, name) VALUES (9999, 'later')")
  await t.rejects(open(url), /9999/)
  await execute(url, "CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER 'libc' TEMPLATE template0")
  const latin = await server.database('western')
  await t.rejects(open(latin), /UTF8/)
  t.same(await execute(latin, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"), [])
})

t.test("a database's own defaults neither keep replicas from starting nor weaken what is acknowledged", async (t) => {
  const url = await server.database()
  const name = new URL(url).pathname.slice(1)
  await execute(url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`)
  await execute(url, `ALTER DATABASE ${name} SET synchronous_commit = off`)
  const stores = await Promise.all(Array.from({ length: 6 }, () => open(url)))
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  await shared(stores, 6, (store, i) => store.createProduct(`p${i}`, draft()))
  const database = new Database(url, 1)
  t.teardown(() => database.close())
  t.same(await database.query('SHOW synchronous_commit'), [{ synchronous_commit: 'on' }])
  await execute(url, `ALTER DATABASE ${name} SET synchronous_commit = remote_write`)
  const other = new Database(url, 1)
  t.teardown(() => other.close())
  t.same(await other.query('SHOW synchronous_commit'), [{ synchronous_commit: 'remote_write' }], 'what waits for more stays')
})

t.test('a database that takes no writes is not ready: it is read, and every write is refused', async (t) => {
  const url = await server.database()
  const name = new URL(url).pathname.slice(1)
  const before = await open(url)
  await before.createProduct('a', stocked(5))
  await before.close()
  await execute(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  const store = await open(url)
  t.teardown(() => store.close())
  const unavailable = { code: 'store-unavailable' }
  const notStored = { ...unavailable, message: /Nothing was stored/ }
  await t.rejects(store.ping(), unavailable)
  await t.rejects(store.placeOrder(placing('a')), notStored)
  await t.rejects(store.importProducts([{ id: 'b', draft: draft() }]), notStored)
  await t.rejects(store.createKey({ customer: 'acme', scopes: [], hash: 'a'.repeat(64) }), unavailable)
  t.same(
    (await store.products({ limit: 2 })).items.map(({ id }) => id),
    ['a']
  )
})

t.test('the operator is told that a database without the shop’s tables is read-only', async (t) => {
  const url = await server.database()
  await execute(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`)
  await t.rejects(open(url), { name: 'StoreOpenError', message: /is read-only now .*: set DATABASE_URL to the server that accepts writes/ })
})

t.test('a shop keeps the currency that its prices have', async (t) => {
  const url = await server.database()
  await keepsItsCurrency(t, (currency) => openPostgresStore({ url, currency }))
})

t.test('replicas that sell the same products, in any line order, never block each other and never oversell', async (t) => {
  const { stores, url } = await replicas(t, 3)
  const [store] = stores as readonly [Store]
  const ids = Array.from({ length: 20 }, (_, i) => `p${i}`)
  for (const id of ids) await store.createProduct(id, stocked(90))
  const outcomes = await shared(stores, 900, async (store, i) => {
    const lines = [0, 1, 2, 3].map((n) => item(ids[(i * (n + 3) + n) % ids.length] ?? ''))
    return store.placeOrder({ order: purchase(i % 2 ? lines : lines.reverse()), status: 'accepted' }).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error instanceof DomainError ? error.code : error)
    )
  })
  t.same(new Set(outcomes), new Set(['placed', 'order-refused']))
  const orders = await everyOrder(store)
  t.equal(orders.length, outcomes.filter((outcome) => outcome === 'placed').length)
  for (const id of ids) {
    const sold = orders.flatMap(({ items }) => items).filter(({ productId }) => productId === id)
    t.equal(plain(add(await onHand(store, id), decimal(String(sold.length)))), '90')
  }
  const [{ deadlocks } = { deadlocks: 'unknown' }] = await execute(
    url,
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()'
  )
  t.equal(deadlocks, 0)
})

t.test('one idempotency key on several replicas makes one order, also when the products differ', async (t) => {
  const { stores } = await replicas(t, 3)
  const [store] = stores as readonly [Store]
  for (const id of ['a', 'b', 'c']) await store.createProduct(id, stocked(1000))
  const idempotency = { scope: 's', key: 'same', fingerprint: 'f' }
  const placed = await shared(stores, 60, (store) => store.placeOrder(placing('a', 1, { idempotency })))
  t.equal(placed.filter(({ replayed }) => !replayed).length, 1)
  t.equal(new Set(placed.map(({ order }) => order.id)).size, 1)
  for (let round = 0; round < 20; round++) {
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((id, i) =>
        (stores[i] ?? store).placeOrder(placing(id, 1, { idempotency: { scope: 's', key: `round ${round}`, fingerprint: id } }))
      )
    )
    const codes = results.map((result) => (result.status === 'fulfilled' ? result.value.outcome : result.reason.code))
    t.same(codes.sort(), ['idempotency-key-reused', 'idempotency-key-reused', 'placed'])
  }
  t.equal((await everything((after) => store.orders({ limit: 500, ...after }))).length, 21)
})

t.test('one order number on several replicas makes one order, also when the products differ', async (t) => {
  const { stores } = await replicas(t, 3)
  const [store] = stores as readonly [Store]
  for (const id of ['a', 'b', 'c']) await store.createProduct(id, stocked(1000))
  for (let round = 0; round < 20; round++) {
    const numbered = (id: string) =>
      ({ order: purchase([item(id)], { orderNumber: `${round}` }), customer: 'acme', status: 'accepted' }) as const
    const results = await Promise.allSettled(['a', 'b', 'c'].map((id, i) => (stores[i] ?? store).placeOrder(numbered(id))))
    const codes = results.map((result) => (result.status === 'fulfilled' ? result.value.outcome : result.reason.code))
    t.same(codes.sort(), ['order-number-taken', 'order-number-taken', 'placed'])
    const [first] = (await store.orders({ limit: 1, lines: true })).items
    const again = await shared(stores, 3, (store) => store.placeOrder(numbered(first?.lines?.[0]?.productId ?? '')))
    t.ok(again.every(({ order, outcome }) => outcome === 'repeated' && order.id === first?.id))
  }
})

t.test('of replicas that create one product, or give one GTIN to several, one succeeds', async (t) => {
  const { stores } = await replicas(t, 3)
  const codes = (attempts: Promise<unknown>[]) =>
    Promise.all(
      attempts.map((attempt) =>
        attempt.then(
          () => 'done',
          (error) => error.code
        )
      )
    )
  for (let round = 0; round < 20; round++) {
    const created = await codes(stores.map((store) => store.createProduct(`p${round}`, draft())))
    t.same(created.sort(), ['done', 'product-exists', 'product-exists'])
    const gtin = (i: number) => String(round).padStart(12 + i, '0')
    const given = await codes(stores.map((store, i) => store.createProduct(`p${round}-${i}`, draft({ gtin: gtin(i) }))))
    t.same(given.sort(), ['done', 'gtin-taken', 'gtin-taken'])
  }
})

t.test('a change on one replica is read on another as soon as it is acknowledged', async (t) => {
  const { stores } = await replicas(t, 2)
  const [one, other] = stores as readonly [Store, Store]
  await one.createProduct('a', stocked(5))
  t.match(await other.product('a'), { availability: 'in-stock' })
  const { order } = await other.placeOrder(placing('a', 5))
  t.match(await one.product('a'), { availability: 'out-of-stock', version: 2 })
  await one.setOrderStatus(order.id, 'cancelled', { version: 1 })
  await t.rejects(other.changeOrder(order.id, purchase([item('a')]), { version: 1 }), { code: 'transition-refused' })
  t.match(await other.product('a'), { availability: 'in-stock', version: 3, modifiedAt: (await one.revision()).modifiedAt })
})

t.test('an order that the database itself refuses fails alone', async (t) => {
  const { stores } = await replicas(t, 1)
  const [store] = stores as readonly [Store]
  await store.createProduct('a', stocked(100))
  const results = await Promise.allSettled<Placed>(
    Array.from({ length: 30 }, (_, i) =>
      store.placeOrder({
        order: purchase([item('a')], { orderNumber: i === 7 ? 'no\0text' : `${i}` }),
        customer: 'acme',
        status: 'accepted'
      })
    )
  )
  t.same(
    results.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])),
    [7]
  )
  t.equal(await onHand(store, 'a'), '71')
})

t.test('a GTIN goes from one product to another within one import', async (t) => {
  const { stores } = await replicas(t, 1)
  const [store] = stores as readonly [Store]
  const [x, y] = ['4006381333931', '96385074']
  await store.createProduct('a', draft({ gtin: x }))
  await store.createProduct('b', draft({ gtin: y }))
  t.same(
    await store.importProducts([
      { id: 'a', draft: draft() },
      { id: 'b', draft: draft({ gtin: x }) },
      { id: 'a', draft: draft({ gtin: y }) }
    ]),
    ['replaced', 'replaced', 'replaced']
  )
  t.match([await store.product('a'), await store.product('b')], [{ gtin: y }, { gtin: x }])
})

t.test('more than can wait is refused as overload, and the rest is written', async (t) => {
  const { stores } = await replicas(t, 1)
  const [store] = stores as readonly [Store]
  await store.createProduct('a', stocked(100_000))
  // Most orders are for an unknown product, and refusing one writes no row. So a batch is fast on a slow machine, too.
  const orders = Array.from({ length: 10_500 }, (_, i) => placing(i % 10 === 0 ? 'a' : 'unknown'))
  const results = await Promise.allSettled(orders.map((order) => store.placeOrder(order)))
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
  const overloaded = refused.filter((code) => code === 'store-overloaded')
  t.ok(overloaded.length > 0 && overloaded.length <= 500)
  t.same(new Set(refused), new Set(['store-overloaded', 'invalid-order']))
  t.equal(await onHand(store, 'a'), String(100_000 - results.length + refused.length))
})

t.test('new idempotency keys delete expired ones', async (t) => {
  const { stores, url } = await replicas(t, 2)
  const [store] = stores as readonly [Store]
  await store.createProduct('a', stocked(1000))
  const place = (key: string, at: Store = store) => at.placeOrder(placing('a', 1, { idempotency: { scope: 's', key, fingerprint: 'f' } }))
  const count = async () => (await execute<{ n: number }>(url, 'SELECT count(*)::int AS n FROM idempotency'))[0]?.n
  for (let i = 0; i < 20; i++) await place(`old ${i}`)
  await execute(url, 'UPDATE idempotency SET kept_at = kept_at - 25 * 60 * 60 * 1000::bigint')
  for (let i = 0; i < 10; i++) await place(`day ${i}`)
  t.equal(await count(), 30, 'a day is within the promise')
  await execute(url, "UPDATE idempotency SET kept_at = kept_at - 24 * 60 * 60 * 1000::bigint WHERE key LIKE 'old %'")
  await shared(stores, 20, (store, i) => place(`new ${i}`, store))
  t.equal(await count(), 30)
  t.equal((await place('day 0')).replayed, true)
})
