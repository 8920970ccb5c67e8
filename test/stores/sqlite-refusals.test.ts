import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { StoreOpenError } from '../../domain/errors.ts'
import { backupSqlite } from '../../stores/sqlite/backup.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { placing, shopCurrency, stocked } from './fixtures.ts'

const open = (path: string) => openSqliteStore({ path, currency: shopCurrency })

/** The error of opening a file: one line that names it. */
async function refusal(t: Test, path: string): Promise<string> {
  const error = await open(path).then(
    () => undefined,
    (error: unknown) => error
  )
  if (!(error instanceof StoreOpenError)) throw error ?? new Error('it was opened')
  t.ok(error.message.includes(path), 'it names the file')
  t.notMatch(error.message, /\n/)
  return error.message
}

/** The bytes of each file of a folder, by its name. */
function bytesIn(folder: string): ReadonlyMap<string, string> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('base64')]))
}

/** Makes a database of another application, in each state that SQLite leaves a database and the files beside it in. */
const foreign: Readonly<Record<string, (path: string) => void>> = {
  'with a rollback journal': (path) => {
    const db = new Connection(path)
    db.exec('CREATE TABLE theirs (a)')
    db.close()
  },
  'in WAL mode, closed': (path) => {
    const db = new Connection(path)
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (a)')
    db.close()
  },
  'in WAL mode, with all of it in the log, as a crash leaves it': (path) => {
    const db = new Connection(`${path}.whole`)
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (a)')
    for (const suffix of ['', '-wal']) copyFileSync(`${path}.whole${suffix}`, `${path}${suffix}`)
    db.close()
  },
  'that is empty and has their mark': (path) => {
    const db = new Connection(path)
    db.exec('PRAGMA application_id = 7')
    db.close()
  }
}

for (const [what, make] of Object.entries(foreign)) {
  t.test(`a database of something else ${what} is refused, and not one byte of it changes`, async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'other.db')
    make(path)
    const before = bytesIn(folder)
    t.match(await refusal(t, path), /database of something else, not of Tradepost: set DATABASE_URL to another file/)
    await t.rejects(backupSqlite(path, join(folder, 'backup.db')), { name: 'StoreOpenError' })
    t.same(bytesIn(folder), before)
  })
}

t.test('a file that is no database, or a damaged one, is refused and left alone', async (t) => {
  const folder = t.testdir({ 'notes.txt': 'x'.repeat(5000), short: 'x' })
  const before = bytesIn(folder)
  for (const name of ['notes.txt', 'short']) t.match(await refusal(t, join(folder, name)), /is not a SQLite database/)
  t.same(bytesIn(folder), before)

  const cut = join(folder, 'cut.db')
  await (await open(cut)).close()
  truncateSync(cut, 8192)
  t.match(await refusal(t, cut), /is damaged: restore a backup/)
  for (const length of [20, 107]) {
    const stump = join(folder, `${length}.db`)
    writeFileSync(stump, readFileSync(cut).subarray(0, length))
    t.match(await refusal(t, stump), /is damaged, because it is cut short: restore a backup$/)
    t.equal(statSync(stump).size, length)
  }
  const scrawled = join(folder, 'scrawled.db')
  await (await open(scrawled)).close()
  const bytes = readFileSync(scrawled)
  writeFileSync(scrawled, bytes.fill(0x55, 200, 4096))
  t.match(await refusal(t, scrawled), /is damaged: restore a backup/)
})

t.test('a folder, a file in the place of a folder and a device are refused', async (t) => {
  const folder = t.testdir({ inner: {}, file: '' })
  t.match(await refusal(t, join(folder, 'inner')), /is a folder: set DATABASE_URL to a file, such as sqlite:.*inner\/tradepost\.db/)
  await t.rejects(open(join(folder, 'file', 'shop.db')), {
    name: 'StoreOpenError',
    message: /^the folder .*file cannot be made: there is a file in its place; set DATABASE_URL to another path$/
  })
  await t.rejects(open(join(folder, 'file', 'deeper', 'shop.db')), {
    name: 'StoreOpenError',
    message: /^the folder .*deeper cannot be made: there is a file in its place; set DATABASE_URL to another path$/
  })
  t.match(await refusal(t, '/dev/null'), /is not a regular file/)
})

t.test('a folder that the file system does not make is refused', { skip: process.platform !== 'linux' }, async (t) => {
  await t.rejects(open('/proc/tradepost/deeper/shop.db'), {
    name: 'StoreOpenError',
    message: /^the folder \/proc\/tradepost\/deeper cannot be made: /
  })
})

t.test('a newer schema is refused with both numbers', async (t) => {
  const path = join(t.testdir({}), 'shop.db')
  await (await open(path)).close()
  const db = new Connection(path)
  db.exec('PRAGMA user_version = 9999')
  db.close()
  t.match(await refusal(t, path), /has the schema 9999, this Tradepost knows only up to \d+: run the newer one/)
})

t.test('a file or a folder without permission is refused', async (t) => {
  const folder = t.testdir({ closed: {} })
  const closed = join(folder, 'closed')
  const path = join(closed, 'copy.db')
  await (await open(join(closed, 'shop.db'))).close()
  copyFileSync(join(closed, 'shop.db'), path)
  // Permissions do not bind root, so root acts as another user meanwhile.
  const isRoot = process.geteuid?.() === 0
  const asNobody = async (look: () => Promise<unknown>) => {
    if (isRoot) process.seteuid?.(65_534)
    try {
      await look()
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  }
  const reason =
    /cannot be opened or written: this user has no permission; give this user the right to read and write the file and its folder, or set DATABASE_URL to another path$/
  chmodSync(path, 0o000)
  await asNobody(async () => t.match(await refusal(t, path), reason))
  chmodSync(path, 0o444)
  chmodSync(closed, 0o777)
  await asNobody(async () => t.match(await refusal(t, path), reason, 'to write'))
  chmodSync(path, 0o600)
  chmodSync(closed, 0o555)
  await asNobody(async () => {
    await t.rejects(open(join(closed, 'new.db')), { name: 'StoreOpenError', message: reason })
    await t.rejects(open(join(closed, 'deeper', 'new.db')), {
      name: 'StoreOpenError',
      message: /the folder .*deeper cannot be made: .*no permission/
    })
  })
  chmodSync(closed, 0o755)
})

t.test('a database that was never closed since it was made is known by its log', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'shop.db')
  const store = await open(path)
  await store.createProduct('a', stocked(5))
  const copy = join(folder, 'copy.db')
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`)
  await store.close()
  const again = await open(copy)
  t.equal((await again.product('a')).id, 'a')
  await again.close()
})

t.test('only the user who makes a database or a backup may read it, whatever the umask; what is there keeps its mode', async (t) => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  const mask = process.umask(0)
  t.teardown(() => process.umask(mask))
  const folder = t.testdir({})
  const path = join(folder, 'made', 'here', 'shop.db')
  const store = await open(path)
  await store.createProduct('a', stocked(5))
  await store.placeOrder(placing('a'))
  for (const suffix of ['', '-wal', '-shm']) t.equal(modeOf(`${path}${suffix}`), '600', `shop.db${suffix}`)
  for (const made of ['made', join('made', 'here')]) t.equal(modeOf(join(folder, made)), '700', made)
  await backupSqlite(path, join(folder, 'backup.db'))
  t.equal(modeOf(join(folder, 'backup.db')), '600')
  await store.close()

  mkdirSync(join(folder, 'shared'), { mode: 0o775 })
  const shared = join(folder, 'shared', 'shop.db')
  copyFileSync(path, shared)
  chmodSync(shared, 0o664)
  const other = await open(shared)
  t.same([modeOf(shared), modeOf(`${shared}-wal`), modeOf(join(folder, 'shared'))], ['664', '664', '775'])
  await other.close()
  t.notOk(existsSync(`${shared}-wal`))
})
