import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { add, decimal, plain } from '../../domain/money.ts'
import type { ProductDraft } from '../../domain/product.ts'
import { backupSqlite } from '../../stores/sqlite/backup.ts'
import { Connection, connectWriter } from '../../stores/sqlite/connection.ts'
import { migrateSqlite } from '../../stores/sqlite/migrations.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { databaseFolder } from '../memory.ts'
import { storeContract } from './contract.ts'
import { keepsItsCurrency } from './currency.ts'
import { draft, everything, onHand, placing, shopCurrency, stocked, untilLater } from './fixtures.ts'
import { newSqliteFile } from './new-database.ts'
import { openStoreWithWriter } from './sqlite-with-writer.ts'

const folder = databaseFolder(t)
let files = 0
const newPath = () => join(folder, 'made', `shop-${files++}.db`)
const open = (path: string) => openSqliteStore({ path, currency: shopCurrency })

storeContract(t, async () => open(await newSqliteFile(join(folder, `contract-${files++}.db`))))

t.test('closing writes what waits, then leaves one file without a log, and refuses what comes after', async (t) => {
  const path = newPath()
  const store = await open(path)
  await store.createProduct('a', stocked(1000))
  const attempts = Array.from({ length: 500 }, () => store.placeOrder(placing('a')))
  await Promise.all([store.close(), store.close()])
  t.equal((await Promise.all(attempts)).length, 500)
  t.notOk(existsSync(`${path}-wal`))
  await t.rejects(store.placeOrder(placing('a')), { code: 'store-unavailable' })
  await t.rejects(store.product('a'), { code: 'store-unavailable' })
  await t.rejects(store.ping(), { code: 'store-unavailable' })
  const again = await open(path)
  t.equal(await onHand(again, 'a'), '500')
  await again.close()
})

t.test('a database that is newer than the code, or something else, is refused and left alone', async (t) => {
  const newer = newPath()
  await (await open(newer)).close()
  const db = new Connection(newer)
  db.exec('PRAGMA user_version = 9999')
  db.close()
  await t.rejects(open(newer), /9999/)
  const other = new Connection(join(folder, 'other.db'))
  other.exec('CREATE TABLE theirs (a)')
  const bytes = readFileSync(other.name)
  await t.rejects(open(other.name), /something else/)
  t.same(readFileSync(other.name), bytes, 'not even its journal mode is another')
  t.equal(other.prepare('SELECT count(*) FROM sqlite_schema').pluck().get(), 1)
  other.close()
})

t.test('a shop keeps the currency that its prices have', async (t) => {
  const path = newPath()
  await keepsItsCurrency(t, (currency) => openSqliteStore({ path, currency }))
})

t.test('migrating again does nothing', async (t) => {
  const path = newPath()
  const first = await migrateSqlite(path)
  t.ok(first.from === 0 && first.to > 0 && first.applied.length === first.to)
  t.same(await migrateSqlite(path), { from: first.to, to: first.to, applied: [] })
})

t.test('processes that open one new file at the same moment all succeed', async (t) => {
  const path = newPath()
  const program = new URL(import.meta.url.replace('sqlite.test', 'sqlite-open')).pathname
  const ids = ['a', 'b', 'c']
  const started = ids.map((id) => spawn(process.execPath, [...process.execArgv, program, path, id], { stdio: ['pipe', 'pipe', 'inherit'] }))
  await Promise.all(started.map((child) => once(child.stdout, 'data')))
  const exits = started.map((child) => once(child, 'exit'))
  for (const child of started) child.stdin.write('go')
  t.same(
    (await Promise.all(exits)).map(([code]) => code),
    [0, 0, 0]
  )
  const store = await open(path)
  t.same(
    (await store.products({ limit: 10 })).items.map(({ id }) => id),
    ids
  )
  await store.close()
})

t.test('a backup is a whole store of one moment, taken while orders are placed, and overwrites nothing', async (t) => {
  const { store, path } = await openStoreWithWriter(t)
  await store.createProduct('a', stocked(100_000))
  const attempts = Array.from({ length: 4000 }, () => store.placeOrder(placing('a')))
  await attempts[0]
  await backupSqlite(path, `${path}.backup`)
  await t.rejects(backupSqlite(path, `${path}.backup`), /exists/)
  await Promise.all(attempts)
  const copy = await open(`${path}.backup`)
  const orders = await everything((after) => copy.orders({ limit: 500, ...after }))
  t.ok(orders.length > 0)
  t.equal(plain(add(await onHand(copy, 'a'), decimal(String(orders.length)))), '100000')
  t.same(
    (await copy.products({ limit: 1, q: 'hammer' })).items.map(({ id }) => id),
    ['a']
  )
  await copy.placeOrder(placing('a'))
  await copy.close()
})

t.test('more than can wait is refused as overload, and the rest is written', async (t) => {
  const { store } = await openStoreWithWriter(t)
  const settled = await Promise.allSettled(Array.from({ length: 10_500 }, () => store.touchKeys([])))
  const refused = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  t.ok(refused.length > 0 && refused.length <= 500)
  t.ok(refused.every((error) => error instanceof DomainError && error.code === 'store-overloaded'))
})

t.test('an error from outside the domain keeps its cause, and does not affect the other writes', async (t) => {
  const { store } = await openStoreWithWriter(t)
  const nameless = { ...draft(), name: null } as unknown as ProductDraft
  const settled = await Promise.allSettled([
    store.createProduct('a', draft()),
    store.createProduct('b', nameless),
    store.createProduct('c', draft())
  ])
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled']
  )
  const [, { reason }] = settled as unknown as [unknown, { reason: Error }]
  t.notOk(reason instanceof DomainError)
  t.match(reason, { cause: { name: 'SqliteError', message: /NOT NULL/ } })
  const uncloneable = { ...draft(), name: () => 'x' } as unknown as ProductDraft
  await t.rejects(store.createProduct('d', uncloneable), { cause: { name: 'DataCloneError' } })
  t.same(
    (await store.products({ limit: 10 })).items.map(({ id }) => id),
    ['a', 'c']
  )
})

t.test('new idempotency keys delete expired ones', async (t) => {
  const { store, path } = await openStoreWithWriter(t)
  await store.createProduct('a', stocked(1000))
  const place = (key: string) => store.placeOrder(placing('a', 1, { idempotency: { scope: 's', key, fingerprint: 'f' } }))
  for (let i = 0; i < 20; i++) await place(`old ${i}`)
  const other = connectWriter(path)
  const count = other.prepare('SELECT count(*) FROM idempotency').pluck()
  other.exec('UPDATE idempotency SET kept_at = unixepoch() * 1000 - 25 * 60 * 60 * 1000')
  for (let i = 0; i < 10; i++) await place(`day ${i}`)
  t.equal(count.get(), 30, 'a day is within the promise')
  other.exec("UPDATE idempotency SET kept_at = kept_at - 24 * 60 * 60 * 1000 WHERE key LIKE 'old %'")
  for (let i = 0; i < 10; i++) await place(`new ${i}`)
  t.equal(count.get(), 20)
  other.exec('UPDATE idempotency SET kept_at = kept_at + 1e13 WHERE seq IN (SELECT seq FROM idempotency ORDER BY seq LIMIT 2)')
  other.exec("UPDATE idempotency SET kept_at = kept_at - 48 * 60 * 60 * 1000 WHERE key LIKE 'new %'")
  for (let i = 0; i < 5; i++) await place(`newer ${i}`)
  t.equal(count.get(), 15, 'rows of a clock that was wrong once keep nothing from going')
  t.equal((await place('day 0')).replayed, true)
  other.close()
})

t.test('more changed products than are sorted at once are paged as well as few', async (t) => {
  const { store } = await openStoreWithWriter(t)
  const ids = Array.from({ length: 10_001 }, (_, i) => `p${String(i).padStart(5, '0')}`)
  const even = (i: number) => (i % 2 ? [] : ['even'])
  const create = (some: readonly string[]) =>
    Promise.all(some.map((id) => store.createProduct(id, draft({ categories: even(Number(id.slice(1))) }))))
  await create(ids.slice(0, 5000))
  await untilLater()
  await create(ids.slice(5000))
  const { modifiedAt } = await store.product('p00000')
  for (const updatedSince of [modifiedAt, (await store.product('p05000')).modifiedAt]) {
    const all = await everything((after) => store.products({ limit: 1000, updatedSince, ...after }))
    const expected = updatedSince === modifiedAt ? ids : ids.slice(5000)
    t.same(
      all.map(({ id }) => id),
      expected
    )
    const some = await everything((after) => store.products({ limit: 1000, updatedSince, category: 'even', ...after }))
    t.same(
      some,
      all.filter(({ categories }) => categories.includes('even'))
    )
  }
})

t.test('the version of the database changes with each write, here and in another process, and with nothing else', async (t) => {
  const path = newPath()
  const [store, other] = [await open(path), await open(path)]
  const version = () => store.versions?.database()
  let before = version()
  const changes = [
    () => store.createProduct('a', stocked(5)),
    () => other.putStock('a', '4' as never, {}),
    () => store.placeOrder(placing('a')),
    () => other.importProducts([{ id: 'b', draft: stocked(1) }])
  ]
  for (const change of changes) {
    await change()
    t.not(version(), before)
    before = version()
    await store.products({ limit: 10 })
    await other.product('a')
    t.equal(version(), before)
  }
  await Promise.all([store.close(), other.close()])
  t.equal(version(), undefined)
})
