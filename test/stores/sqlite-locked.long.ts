import { join } from 'node:path'
import t from 'tap'
import { StoreOpenError } from '../../domain/errors.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { shopCurrency } from './fixtures.ts'

// The store waits 30 seconds for the lock, because the other process may be applying migrations.
t.test('the error says that another process keeps the database locked', async (t) => {
  const path = join(t.testdir({}), 'shop.db')
  const open = () => openSqliteStore({ path, currency: shopCurrency })
  await (await open()).close()
  const db = new Connection(path)
  db.exec('BEGIN EXCLUSIVE; PRAGMA user_version = 0')
  const error = await open().then(
    () => undefined,
    (error: unknown) => error
  )
  if (!(error instanceof StoreOpenError)) throw error ?? new Error('it was opened')
  t.match(error.message, /is locked by another process/)
  t.ok(error.message.includes(path), 'it names the file')
  t.notMatch(error.message, /\n/)
  db.close()
})
