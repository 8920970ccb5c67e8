import { join } from 'node:path'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Connection, connectReader, connectWriter } from '../../stores/sqlite/connection.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { shopCurrency } from './fixtures.ts'

t.test('the file is in WAL mode, a commit is synced, and the connection that reads cannot write', async (t) => {
  const path = join(t.testdir(), 'shop.db')
  const store = await openSqliteStore({ path, currency: shopCurrency })
  t.teardown(() => store.close())
  const [reader, writer] = [connectReader(path), connectWriter(path)]
  t.equal(reader.pragma('journal_mode', { simple: true }), 'wal')
  t.equal(writer.pragma('synchronous', { simple: true }), 2, 'FULL')
  t.equal(writer.pragma('foreign_keys', { simple: true }), 1)
  t.throws(() => reader.exec('DELETE FROM product'), { code: 'SQLITE_READONLY' })
  reader.close()
  writer.close()
})

t.test('no garbage collection frees an object of the addon, which could end the process (nodejs/node#65446)', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const made = () => {
    const db = new Connection(join(t.testdir(), 'shop.db'))
    db.pragma('user_version')
    const statement = db.prepare('SELECT 1')
    db.close()
    return { db: new WeakRef(db), statement: new WeakRef(statement), other: new WeakRef({}) }
  }
  const { db, statement, other } = made()
  await turnOfTheLoop()
  collect()
  t.notOk(other.deref(), 'what nobody holds is gone')
  t.ok(db.deref() && statement.deref())
})
