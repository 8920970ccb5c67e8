import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { decimal } from '../../domain/money.ts'
import { openStore } from '../../stores/open.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { draft } from '../build.ts'
import { everything, onHand, placing } from '../stores/fixtures.ts'
import { run } from './run.ts'

const backupsIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('backup'))

t.test('a backup that is taken while orders are placed is a whole shop of one moment, and restores as it says', async (t) => {
  const folder = t.testdir()
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'shop.db')}` }
  const store = await openStore(settings.DATABASE_URL, 'EUR')
  t.teardown(() => store.close())
  await store.createProduct('a', draft({ onHand: decimal('1000000') }))
  await store.createKey({ customer: 'ACME', scopes: ['order'], hash: 'f'.repeat(64) })
  const before = await Promise.all(Array.from({ length: 200 }, () => store.placeOrder(placing('a'))))

  let isBackedUp = false
  const placed: string[] = []
  const buyers = Array.from({ length: 8 }, async () => {
    while (!isBackedUp) placed.push((await store.placeOrder(placing('a'))).order.id)
  })
  while (placed.length === 0) await sleep(1)
  const file = join(folder, 'backup.db')
  t.match(await run(['backup', file], settings), { status: 0, stdout: '', stderr: '' })
  isBackedUp = true
  await Promise.all(buyers)
  t.same(backupsIn(folder), ['backup.db'])

  const copy = new Connection(file, { readonly: true })
  t.same(copy.pragma('integrity_check', { simple: true }), 'ok')
  t.same(copy.pragma('foreign_key_check'), [])
  copy.close()

  copyFileSync(file, join(folder, 'restored.db'))
  const restored = await openStore(`sqlite:${join(folder, 'restored.db')}`, 'EUR')
  t.teardown(() => restored.close())
  const orders = await everything((after) => restored.orders({ limit: 500, ...after }))
  const known = new Set(orders.map(({ id }) => id))
  t.ok(
    before.every(({ order }) => known.has(order.id)),
    'what was acknowledged before is in it'
  )
  t.ok(orders.length > before.length, `${orders.length - before.length} of ${placed.length} orders that were placed meanwhile are in it`)
  t.equal(Number(await onHand(restored, 'a')), 1_000_000 - orders.length, 'stock adds up')
  t.equal((await restored.keys()).length, 1)
  await restored.placeOrder(placing('a'))
  t.equal((await restored.products({ limit: 1, q: 'bolt' })).items.length, 1, 'and it is a shop that goes on')

  t.match(await run(['backup', file], settings), { status: 1, stderr: /exists: a backup never overwrites/ })
})

/** A database that takes some tenths of a second to copy. */
async function largeShop(t: Test) {
  const folder = t.testdir()
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'shop.db')}` }
  const store = await openStore(settings.DATABASE_URL, 'EUR')
  const large = draft({ description: 'x'.repeat(4000) })
  for (let i = 0; i < 20; i++) await store.importProducts(Array.from({ length: 1000 }, (_, n) => ({ id: `${i}-${n}`, draft: large })))
  await store.close()
  return {
    folder,
    settings,
    file: join(folder, 'backup.db'),
    backups: () => backupsIn(folder)
  }
}

function isWhole(file: string): boolean {
  const copy = new Connection(file, { readonly: true })
  const isWhole = copy.pragma('integrity_check', { simple: true }) === 'ok'
  copy.close()
  return isWhole
}

t.test('when two backups to one file run at once, one is complete and the other fails with a message', async (t) => {
  const { settings, file, backups } = await largeShop(t)
  writeFileSync(`${file}.partial`, 'mine')
  const ran = await Promise.all([run(['backup', file], settings), run(['backup', file], settings)])
  const [made, refused] = ran.sort((a, b) => Number(a.status) - Number(b.status))
  t.match(made, { status: 0, stderr: '' })
  t.match(refused, { status: 1, stderr: /backup\.db exists: a backup never overwrites anything; choose another name\n$/ })
  t.ok(isWhole(file))
  t.same(backups(), ['backup.db', 'backup.db.partial'])
  t.equal(readFileSync(`${file}.partial`, 'utf8'), 'mine')
})

/** A new database, and the backup of this process with some of `node:fs` replaced. */
async function backupWith(t: Test, replaced: (file: string) => Partial<typeof fs>) {
  const folder = t.testdir()
  const [path, file] = [join(folder, 'shop.db'), join(folder, 'backup.db')]
  await (await openStore(`sqlite:${path}`, 'EUR')).close()
  const { backupSqlite } = await t.mockImport<typeof import('../../stores/sqlite/backup.ts')>('../../stores/sqlite/backup.ts', {
    'node:fs': { ...fs, ...replaced(file) }
  })
  return { file, backup: () => backupSqlite(path, file), backups: () => backupsIn(folder) }
}

t.test('a file that appears while a backup is written is not replaced', async (t) => {
  const { file, backup, backups } = await backupWith(t, (file) => ({
    fsyncSync: (descriptor) => {
      fs.fsyncSync(descriptor)
      writeFileSync(file, 'mine')
    }
  }))
  await t.rejects(backup(), /backup\.db exists: a backup never overwrites anything; choose another name$/)
  t.equal(readFileSync(file, 'utf8'), 'mine')
  t.same(backups(), ['backup.db'])
})

t.test('the backup is renamed on a file system without hard links', async (t) => {
  const { file, backup, backups } = await backupWith(t, () => ({
    linkSync: () => {
      throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
    }
  }))
  await backup()
  t.ok(isWhole(file))
  await t.rejects(backup(), /exists/)
  t.same(backups(), ['backup.db'])
})

t.test('without a database there is nothing to back up, and for PostgreSQL it says how', async (t) => {
  const folder = t.testdir()
  const file = join(folder, "it's.db")
  t.match(await run(['backup', file], { DATABASE_URL: `sqlite:${join(folder, 'none.db')}` }), {
    status: 1,
    stderr: /no database at .*none\.db/
  })
  t.same(readdirSync(folder), [])
  const postgres = await run(['backup', file], { DATABASE_URL: 'postgres://shop:s3cret@db.example/shop' })
  t.match(postgres, {
    status: 1,
    stderr: /^ {2}pg_dump --format=custom --file='.*it'\\''s\.db' --dbname="\$\{DATABASE_URL:-.*$/m
  })
  t.notMatch(postgres.stderr, 's3cret')
})

/** Runs the commands that `backup` prints for PostgreSQL, with tools that only show their arguments. */
async function advised(t: Test, url: string, settings: (url: string) => Record<string, string>) {
  const folder = t.testdir({ url: `${url}\n`, bin: {} })
  for (const tool of ['pg_dump', 'pg_restore', 'psql'])
    writeFileSync(join(folder, 'bin', tool), `#!/bin/sh\nprintf '%s\\n' "${tool}" "$@"\n`, { mode: 0o755 })
  const given = settings(join(folder, 'url'))
  const { status, stderr } = await run(['backup', 'shop.dump'], given)
  t.equal(status, 1)
  t.notMatch(stderr, 's3cret')
  const commands = stderr.split('\n').filter((line) => line.startsWith('  '))
  return commands.map((command) =>
    execFileSync('sh', ['-c', command], { env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, ...given }, encoding: 'utf8' })
      .trim()
      .split('\n')
  )
}

t.test('the advice for PostgreSQL empties the database before it restores, with a URL that its tools can read', async (t) => {
  const url = 'postgres://shop:s3cret@db.example/shop'
  const [dump, empty, restore] = await advised(t, url, () => ({ DATABASE_URL: url }))
  t.same(dump, ['pg_dump', '--format=custom', '--file=shop.dump', `--dbname=${url}`])
  t.same(empty, ['psql', `--dbname=${url}`, '--command=DROP SCHEMA public CASCADE; CREATE SCHEMA public'])
  t.same(restore, ['pg_restore', '--no-owner', '--single-transaction', `--dbname=${url}`, 'shop.dump'])
  for (const [, ...args] of await advised(t, url, (file) => ({ DATABASE_URL_FILE: file })))
    t.ok(args.includes(`--dbname=${url}`), 'from a file')
  const unchecked = `${url}?sslmode=no-verify&connect_timeout=9`
  for (const [, ...args] of await advised(t, unchecked, () => ({ DATABASE_URL: unchecked })))
    t.ok(args.includes(`--dbname=${url}?sslmode=require&connect_timeout=9`), 'psql knows no no-verify')
})

t.test('migrate makes the database, and says when there is nothing to do', async (t) => {
  const settings = { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` }
  t.match(await run(['migrate'], settings), { status: 0, stdout: /^applied 0001-.*\.sql\n(applied .*\n)*the schema is \d+\n$/ })
  t.match(await run(['migrate'], settings), { status: 0, stdout: /^the schema is \d+\n$/ })
})
