import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { openStore } from '../../stores/open.ts'
import { draft } from '../build.ts'
import { smallDisk } from '../small-disk.ts'
import { cli, run } from './run.ts'

const noDisk = { skip: 'needs the right to mount a disk' }
const csv = (count: number) => `id,name,price\n${Array.from({ length: count }, (_, i) => `p${i},${'name '.repeat(20)},1\n`).join('')}`

async function shopAt(path: string, count = 0): Promise<{ DATABASE_URL: string }> {
  const settings = { DATABASE_URL: `sqlite:${path}` }
  const store = await openStore(settings.DATABASE_URL, 'EUR')
  await store.importProducts(
    Array.from({ length: count }, (_, i) => ({ id: `p${i}`, draft: draft({ description: 'x'.repeat(1000), onHand: decimal('1') }) }))
  )
  await store.close()
  return settings
}

t.test('on a full disk each command that writes names the file in one line, says that the disk is full, and is status 1', async (t) => {
  const disk = smallDisk(t, 2)
  if (!disk) return t.pass('', noDisk)
  const settings = await shopAt(join(disk.folder, 'shop.db'))
  disk.fill(65_536)
  const commands: [readonly string[], string][] = [
    [['import', '-', '--format', 'csv'], csv(5000)],
    [['keys', 'create', '--name', 'ACME', '--scopes', 'order'], '']
  ]
  for (const [args, input] of commands) {
    const { status, stdout, stderr } = await run(args, settings, input)
    t.same([status, stdout], [1, ''], args.join(' '))
    t.match(
      stderr,
      /^(standard input: ended early; [^\n]*\n)?tradepost: \/[^\n]*shop\.db cannot be (opened or )?written: the disk is full[^\n]*\n$/
    )
    disk.fill()
  }
})

t.test('a target on a full disk is named, and nothing of it is left', async (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) return t.pass('', noDisk)
  const settings = await shopAt(join(t.testdir({}), 'shop.db'), 2000)
  for (const [command, file] of [
    ['backup', 'backup.db'],
    ['export', 'catalogue.xml']
  ] as const) {
    const target = join(disk.folder, file)
    const { status, stdout, stderr } = await run([command, target], settings)
    t.same([status, stdout], [1, ''])
    t.match(stderr, new RegExp(`^tradepost: ${target} cannot be (opened or )?written: the disk is full[^\\n]*\\n$`))
    t.same(readdirSync(disk.folder), [])
  }
})

t.test('standard output on a full disk is an error too, also where a part of the output fits', async (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) return t.pass('', noDisk)
  const settings = await shopAt(join(t.testdir({}), 'shop.db'), 900)
  const { status, stderr } = spawnSync('sh', ['-c', 'exec "$@" >"$0"', join(disk.folder, 'out.xml'), process.execPath, cli, 'export'], {
    env: { ...process.env, NODE_OPTIONS: '', ...settings },
    encoding: 'utf8'
  })
  t.equal(status, 1)
  t.match(stderr, /^tradepost: standard output cannot be written: the disk is full[^\n]*\n$/)
})

t.test('a database that cannot be opened is one line on standard error, and status 1, of every command', async (t) => {
  const folder = t.testdir({ 'notes.txt': 'notes', inner: {} })
  const commands = [['keys', 'list'], ['migrate'], ['export'], ['backup', join(folder, 'backup.db')], ['import', '-', '--format', 'csv']]
  const files: readonly (readonly [string, RegExp])[] = [
    ['notes.txt', /is not a SQLite database: correct DATABASE_URL/],
    ['inner', /is a folder: set DATABASE_URL to a file/]
  ]
  for (const [i, args] of commands.entries()) {
    const [file = '', reason = /^$/] = files[i % files.length] ?? []
    const { status, stdout, stderr } = await run(args, { DATABASE_URL: `sqlite:${join(folder, file)}` }, csv(1))
    t.same([status, stdout], [1, ''], args.join(' '))
    t.match(stderr, reason)
    t.match(stderr, /^tradepost: [^\n]+\n$/)
    t.ok(stderr.includes(join(folder, file)))
  }
  t.equal(readFileSync(join(folder, 'notes.txt'), 'utf8'), 'notes')
})

t.test('an export that replaces a file gives nobody more right to read it', async (t) => {
  const folder = t.testdir({})
  const settings = await shopAt(join(folder, 'shop.db'), 1)
  const file = join(folder, 'catalogue.xml')
  writeFileSync(file, 'old')
  chmodSync(file, 0o600)
  t.match(await run(['export', file], settings), { status: 0, stderr: '' })
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(readFileSync(file, 'utf8'), /<catalogue/)
})
