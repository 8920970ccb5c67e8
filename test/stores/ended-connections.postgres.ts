import t from 'tap'
import { Database } from '../../stores/postgres/database.ts'
import { execute, postgresFor } from './embedded.ts'
import { openShopOn } from './shop-on-postgres.ts'

const server = await postgresFor(t)

const size = 4
/** Ends every connection to the database but its own. */
const endAll =
  'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'

t.test('reads whose connection has ended are sent again, on another one', async (t) => {
  const { url, database } = await openShopOn(t, server, Database, size)
  const read = () => Promise.all(Array.from({ length: size }, () => database.query<{ one: number }>('SELECT 1 AS one')))
  const expected = Array(size).fill([{ one: 1 }])
  t.same(await read(), expected)
  await execute(url, endAll)
  t.same(await read(), expected, 'connections that were idle')
  const waiting = Promise.all(Array.from({ length: size }, () => database.query<{ one: number }>('SELECT 1 AS one FROM pg_sleep(0.3)')))
  while ((await execute(url, "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(0.3)' AND state = 'active'")).length < size);
  await execute(url, endAll)
  t.same(await waiting, expected, 'and those that were at work')
})

t.test('a write is not sent again, nor is a read that the database has ended twice', async (t) => {
  const { database } = await openShopOn(t, server, Database, size)
  await t.rejects(database.query('SELECT pg_terminate_backend(pg_backend_pid())'), { code: 'store-unavailable' })
  await database.query('CREATE TABLE tried (at timestamptz)')
  const sql = 'WITH row AS (INSERT INTO tried VALUES (now()) RETURNING at) SELECT pg_terminate_backend(pg_backend_pid()) FROM row'
  await t.rejects(database.query(sql), { code: 'store-unavailable' })
  t.same(await database.query('SELECT at FROM tried'), [], 'the one attempt was undone')
})
