import { execFileSync } from 'node:child_process'
import t from 'tap'
import { Database } from '../../stores/postgres/database.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { execute, postgresFor } from './embedded.ts'
import { placing, shopCurrency, stocked } from './fixtures.ts'
import { openShopOn } from './shop-on-postgres.ts'

const server = await postgresFor(t)

const size = 4
/** Ends every connection to the database but its own. */
const endAll =
  'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'

/** A program that does it, with the PostgreSQL driver of this project. */
const endAllIn = (url: string) => `import pg from ${JSON.stringify(import.meta.resolve('pg'))}
const client = new pg.Client(${JSON.stringify(url)})
await client.connect()
await client.query(${JSON.stringify(endAll)})
await client.end()`

/** A query that is at work for as long as the table `ended` is not there. */
const untilEnded = (columns: string) => `SELECT ${columns} FROM pg_sleep(CASE WHEN to_regclass('ended') IS NULL THEN 600 ELSE 0 END)`

/** The connections at such a query, once there are so many. */
async function atWork(url: string, count: number): Promise<{ pid: number }[]> {
  const working = `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE '%FROM pg_sleep(CASE%' AND state = 'active' AND pid <> pg_backend_pid()`
  for (;;) {
    const found = await execute<{ pid: number }>(url, working)
    if (found.length >= count) return found
  }
}

t.test('reads whose connection has ended are sent again, on another one', async (t) => {
  const { url, database } = await openShopOn(t, server, Database, size)
  const read = () => Promise.all(Array.from({ length: size }, () => database.query<{ one: number }>('SELECT 1 AS one')))
  const expected = Array(size).fill([{ one: 1 }])
  t.same(await read(), expected)
  await execute(url, endAll)
  t.same(await read(), expected, 'connections that were idle')
  const waiting = Promise.all(Array.from({ length: size }, () => database.query<{ one: number }>(untilEnded('1 AS one'))))
  await atWork(url, size)
  await execute(url, 'CREATE TABLE ended ()')
  await execute(url, endAll)
  t.same(await waiting, expected, 'and those that were at work')
})

t.test('a read is not sent again on a connection from before, which may be the next that is ended', async (t) => {
  const { url, database } = await openShopOn(t, server, Database, size)
  const connection = () => database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid FROM pg_sleep(0.1)')
  const before = (await Promise.all(Array.from({ length: size }, connection))).map(([row]) => row?.pid)
  const waiting = database.query<{ pid: number }>(untilEnded('pg_backend_pid() AS pid'))
  const [active] = await atWork(url, 1)
  await execute(url, 'CREATE TABLE ended ()')
  await execute(url, 'SELECT pg_terminate_backend($1, 60000)', [active?.pid])
  const [row] = await waiting
  t.ok(before.includes(active?.pid))
  t.notOk(before.includes(row?.pid), 'it was sent again on a new connection')
  t.same(await connection(), [row], 'which stays in the pool')
})

t.test('a read finds a connection that works although the others have ended, and nobody knows it yet', async (t) => {
  const { url, store, database } = await openShopOn(t, server, Database, size)
  await store.createProduct('a', stocked(10))
  await store.placeOrder(placing('a'))
  const connectAll = () =>
    Promise.all(Array.from({ length: 2 * size }, () => Promise.all([database.query('SELECT 1'), store.product('a')])))
  const reads: Readonly<Record<string, () => Promise<unknown>>> = {
    'one statement': () => database.query('SELECT 1'),
    'two of them at once': () => Promise.all([database.query('SELECT 1'), database.query('SELECT 1')]),
    'a statement that begins with WITH': () => store.mainCategories(3),
    'a page of orders': () => store.orders({ limit: 10 }),
    'a page of whole orders': () => store.wholeOrders({ limit: 10 })
  }
  for (const [name, read] of Object.entries(reads)) {
    await connectAll()
    // It takes this thread's time, so that the connections find their ends in one turn of the event loop.
    execFileSync(process.execPath, ['--input-type=module', '-e', endAllIn(url)], { env: { PATH: process.env['PATH'] } })
    await t.resolves(read(), name)
  }
})

t.test('a write is not sent again, nor is a read whose connections end twice', async (t) => {
  const { database } = await openShopOn(t, server, Database, size)
  await t.rejects(database.query('SELECT pg_terminate_backend(pg_backend_pid())'), { code: 'store-unavailable' })
  await database.write('CREATE TABLE tried (at timestamptz)')
  await database.write('CREATE SEQUENCE attempts')
  const sql =
    "WITH row AS (INSERT INTO tried VALUES (now()) RETURNING nextval('attempts')) SELECT pg_terminate_backend(pg_backend_pid()) FROM row"
  await t.rejects(database.write(sql), { code: 'store-unavailable' })
  t.same(await database.query("SELECT (SELECT count(*)::int FROM tried) AS rows, nextval('attempts')::int AS next"), [{ rows: 0, next: 2 }])
})

t.test('while the database lets nobody in, everything is unavailable, and nothing was stored', async (t) => {
  const { url, store } = await openShopOn(t, server, Database, size)
  await store.createProduct('a', stocked(10))
  const name = new URL(url).pathname.slice(1)
  const admin = await server.database('postgres')
  await execute(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  const endOthers = 'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1'
  await execute(admin, endOthers, [name])
  await t.rejects(store.product('a'), { code: 'store-unavailable' })
  await t.rejects(store.placeOrder(placing('a')), { code: 'store-unavailable', message: /Nothing was stored/ })
  await t.rejects(store.ping(), { code: 'store-unavailable' })
  await t.rejects(openPostgresStore({ url, currency: shopCurrency }), { name: 'StoreOpenError', message: /cannot be used now/ })
  await execute(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  t.equal((await store.placeOrder(placing('a'))).outcome, 'placed')
})
