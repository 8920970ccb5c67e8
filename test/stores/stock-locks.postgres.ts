import t, { type Test } from 'tap'
import { Database } from '../../stores/postgres/database.ts'
import { until } from '../until.ts'
import { postgresFor } from './embedded.ts'
import { item, onHand, placing, purchase, stocked } from './fixtures.ts'
import { openShopOn } from './shop-on-postgres.ts'

const server = await postgresFor(t)

/** A shop with products, of which the last one's stock is locked until `free`. */
async function shopWithLock(t: Test, products: number) {
  const { store, database } = await openShopOn(t, server, Database, 3)
  const ids = Array.from({ length: products }, (_, i) => `p${i}`)
  await store.importProducts(ids.map((id) => ({ id, draft: stocked(100) })))
  const last = String(ids.at(-1))
  let free = () => {}
  const held = new Promise<void>((resolve) => (free = resolve))
  let holding: Promise<void> = Promise.resolve()
  await new Promise<void>((locked) => {
    holding = database.transaction(async ({ query }) => {
      await query('SELECT FROM stock WHERE product = (SELECT seq FROM product WHERE id = $1) FOR UPDATE', [last])
      locked()
      await held
    })
  })
  /** The sessions that wait for a lock: those for a row, and those for the advisory lock. */
  async function waiting() {
    const [row] = await database.query<{ rows: number; advisory: number }>(
      `SELECT count(*) FILTER (WHERE wait_event <> 'advisory')::int AS rows, count(*) FILTER (WHERE wait_event = 'advisory')::int AS advisory
        FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    )
    return row
  }
  async function letGo() {
    free()
    await holding
  }
  return { store, database, ids, last, waiting, letGo }
}

t.test('of the orders of many products, one at a time locks their stock', async (t) => {
  const { store, ids, waiting, letGo } = await shopWithLock(t, 300)
  const order = purchase(ids.map((id) => item(id)))
  const place = () => store.placeOrder({ order, status: 'accepted' })
  const first = place()
  await until(async () => (await waiting())?.rows === 1, 'one waits for the stock')
  const second = place()
  await until(async () => {
    const { rows, advisory } = (await waiting()) ?? {}
    return rows === 1 && advisory === 1
  }, 'the other waits for its turn')
  await letGo()
  t.match(await Promise.all([first, second]), [{ outcome: 'placed' }, { outcome: 'placed' }])
})

t.test('a batch of many small orders waits for no turn', async (t) => {
  const { store, ids, waiting, letGo } = await shopWithLock(t, 301)
  const large = store.placeOrder({ order: purchase(ids.map((id) => item(id))), status: 'accepted' })
  await until(async () => (await waiting())?.rows === 1, 'the large order waits for the stock, and has the turn')
  await store.importProducts(Array.from({ length: 300 }, (_, i) => ({ id: `q${i}`, draft: stocked(1) })))
  const small = Array.from({ length: 300 }, (_, i) => store.placeOrder(placing(`q${i}`)))
  t.equal((await Promise.all(small)).length, 300)
  await letGo()
  t.match(await large, { outcome: 'placed' })
})

t.test(
  'small orders of a product that another transaction has locked wait alone: those of other products are placed meanwhile',
  async (t) => {
    const { store, ids, last, waiting, letGo } = await shopWithLock(t, 4)
    const blocked: Promise<unknown>[] = []
    for (let sessions = 1; sessions <= 2; sessions++) {
      blocked.push(store.placeOrder(placing(last)))
      await until(async () => (await waiting())?.rows === sessions, `${sessions} batches wait for the stock`)
    }
    const mixed = Array.from({ length: 40 }, (_, i) => store.placeOrder(placing(String(ids[i % ids.length]))))
    const [free, locked] = [mixed.filter((_, i) => i % ids.length !== 3), mixed.filter((_, i) => i % ids.length === 3)]
    t.equal((await Promise.all(free)).length, 30)
    t.match(await store.placeOrder(placing('p0')), { outcome: 'placed' })
    t.match(
      await store.placeOrder({ order: purchase([item('p0')]), status: 'accepted', mode: 'dry-run' }),
      { replayed: false },
      'checking an order does not wait either'
    )
    await letGo()
    t.equal((await Promise.all([...blocked, ...locked])).length, 12)
    t.equal(Number(await onHand(store, last)), 88)
  }
)

t.test('small orders that wait for a locked product are placed before the store closes', async (t) => {
  const { store, last, waiting, letGo } = await shopWithLock(t, 1)
  const blocked = Array.from({ length: 3 }, () => store.placeOrder(placing(last)))
  await until(async () => (await waiting())?.rows === 1, 'they wait for the stock')
  const closed = store.close()
  await letGo()
  t.match(await Promise.all(blocked), new Array(3).fill({ outcome: 'placed' }))
  await closed
})

t.test(
  'what the database cancels because it takes too long was not stored, and the shop does not say that the database is away',
  async (t) => {
    const { store, database, last, waiting, letGo } = await shopWithLock(t, 1)
    const cancel = () =>
      database.query(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type IN ('Lock', 'Timeout')"
      )
    const placed = store.placeOrder(placing(last)).catch((error: unknown) => error)
    await until(async () => (await waiting())?.rows === 1, 'the order waits for the stock')
    await cancel()
    t.match(await placed, { code: 'store-overloaded', message: /too much to do right now\. Nothing was stored\. Try again/ })
    await letGo()
    t.match(await store.placeOrder(placing(last)), { outcome: 'placed' })

    const read = database.query('SELECT pg_sleep(600)').catch((error: unknown) => error)
    await until(async () => (await cancel()).length > 0, 'the read runs')
    t.match(await read, { code: 'store-overloaded', message: /too much to do right now\. Try again/ })
  }
)
