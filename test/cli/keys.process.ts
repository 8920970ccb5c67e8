import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { formatTable } from '../../cli/table.ts'
import { openStore } from '../../stores/open.ts'
import { build, orderXml, xml } from '../build.ts'
import { cli, run } from './run.ts'

const newDatabase = (t: Test) => ({ DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` })

t.test('a key is printed alone, works in the service that is running, and stops when it is revoked', async (t) => {
  const { app, config } = await build(t)
  const settings = { DATABASE_URL: config.DATABASE_URL }
  const made = await run(['keys', 'create', '--name', 'ACME', '--scopes', 'order,catalogue'], settings)
  t.match(made, { status: 0, stderr: '' })
  // 32 bytes are 43 characters of base64url.
  t.match(made.stdout, /^tp_[A-Za-z0-9_-]{43}\n$/)

  const listed = await run(['keys', 'list'], settings)
  const [heading, row = ''] = listed.stdout.trimEnd().split('\n')
  t.equal(heading, 'ID\tNAME\tSCOPES\tCREATED\tLAST USED\tEXPIRES\tREVOKED')
  const [id = '', name, scopes, created, ...unset] = row.split('\t')
  t.same([name, scopes, ...unset], ['ACME', 'order,catalogue', '-', '-', '-'])
  t.match(created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.notMatch(listed.stdout, made.stdout.trim().slice(3), 'never the key')

  const headers = { ...xml, authorization: `Bearer ${made.stdout.trim()}` }
  t.equal((await app.inject({ method: 'POST', url: '/order', headers, payload: orderXml() })).statusCode, 201)
  t.equal((await app.inject({ url: '/orders', headers })).statusCode, 200)

  t.match(await run(['keys', 'revoke', id], settings), { status: 0, stdout: '', stderr: '' })
  t.equal((await app.inject({ url: '/orders', headers })).statusCode, 401)
  t.match(await run(['keys', 'revoke', id], settings), { status: 1, stdout: '', stderr: /already revoked/ })
  t.match((await run(['keys', 'list'], settings)).stdout, /\t-\t\d{4}-[^\t]*Z\n$/)
})

t.test('whoever holds a key can revoke it by the key itself, which no message repeats', async (t) => {
  const settings = newDatabase(t)
  const key = (await run(['keys', 'create', '--name', 'ACME', '--scopes', 'order'], settings)).stdout.trim()
  await run(['keys', 'create', '--name', 'Other', '--scopes', 'order'], settings)
  t.same(await run(['keys', 'revoke', key], settings), { status: 0, stdout: '', stderr: '' })
  const rows = (await run(['keys', 'list'], settings)).stdout.split('\n')
  t.match(rows[1], /^k_\w+\tACME\t.*\t\d{4}-\S*Z$/, 'the last column says when it was revoked')
  t.match(rows[2], /^k_\w+\tOther\t.*\t-$/)
  const again = await run(['keys', 'revoke', ` ${key}`], settings)
  t.match(again, { status: 1, stdout: '', stderr: /^tradepost: the key k_\w+ was already revoked at \d{4}-\S*Z\n$/ })
  const unknown = await run(['keys', 'revoke', `${key}x`], settings)
  t.same(unknown, {
    status: 1,
    stdout: '',
    stderr: 'tradepost: the shop does not have this key: see `tradepost keys list` for the ids\n'
  })
})

t.test('whoever revokes a key is told how many active webhooks end with it, and how to keep them', async (t) => {
  const { app, config } = await build(t, { settings: { WEBHOOK_ALLOW: '127.0.0.1' } })
  const settings = { DATABASE_URL: config.DATABASE_URL }
  const create = async () => (await run(['keys', 'create', '--name', 'ERP', '--scopes', 'fulfilment'], settings)).stdout.trim()
  const [none, one, two] = [await create(), await create(), await create()]
  for (const key of [one, two, two]) {
    const headers = { ...xml, authorization: `Bearer ${key}` }
    const payload = '<webhook><url>http://127.0.0.1:9/hooks</url></webhook>'
    t.equal((await app.inject({ method: 'POST', url: '/webhooks', headers, payload })).statusCode, 201)
  }
  const keep = 'To keep one, its owner sends it again with another key of the same name: PUT /webhook/{webhook_id}.\n'
  const told = {
    [none]: '',
    [one]: `The key has 1 active webhook, which is disabled with its next event. ${keep}`,
    [two]: `The key has 2 active webhooks, each of which is disabled with its next event. ${keep}`
  }
  for (const [key, stderr] of Object.entries(told)) t.same(await run(['keys', 'revoke', key], settings), { status: 0, stdout: '', stderr })
})

t.test('a key that cannot be printed is revoked, and the command fails', async (t) => {
  const settings = newDatabase(t)
  await (await openStore(settings.DATABASE_URL, 'EUR')).close()
  const create = [process.execPath, cli, 'keys', 'create', '--name', 'ACME', '--scopes', 'order']
  const { status, stderr } = spawnSync('sh', ['-c', 'exec "$@" >/dev/full', 'sh', ...create], {
    env: { ...process.env, NODE_OPTIONS: '', ...settings },
    encoding: 'utf8'
  })
  t.equal(status, 1)
  const id = /^tradepost: standard output cannot be written: the disk is full[^\n]*; the key (k_\w+) was revoked\n$/.exec(stderr)?.[1]
  const [, row] = (await run(['keys', 'list'], settings)).stdout.split('\n')
  t.match(row, new RegExp(`^${id}\tACME\t.*\t\\d{4}-\\S*Z$`), 'the last column says when it was revoked')
})

t.test('a key can expire: at the end of a day, or after a number of days', async (t) => {
  const settings = newDatabase(t)
  const create = (name: string, expires: string) =>
    run(['keys', 'create', '--name', name, '--scopes', 'order', '--expires', expires], settings)
  t.match(await create('day', '2999-12-31'), { status: 0, stderr: /^made a new database at \/.*\/shop\.db\n$/ })
  t.match(await create('days', '30'), { status: 0, stderr: /^$/ })
  t.match(await create('never', '9999-12-31'), { status: 0, stderr: /^$/ })
  const rows = (await run(['keys', 'list'], settings)).stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
  t.equal(rows.find(([, name]) => name === 'day')?.[5], '3000-01-01T00:00:00Z')
  t.equal(rows.find(([, name]) => name === 'never')?.[5], '9999-12-31T23:59:59Z')
  const after = Date.parse(rows.find(([, name]) => name === 'days')?.[5] ?? '') - Date.now()
  t.ok(after > 29.9 * 86_400_000 && after <= 30 * 86_400_000)
})

t.test('wrong usage is status 2, says what is wrong and makes no key', async (t) => {
  const settings = newDatabase(t)
  const wrong: [readonly string[], RegExp][] = [
    [[], /a command is missing/],
    [['keys', 'make'], /^tradepost: there is no command "keys make": use keys create, keys list, keys revoke\nRun [^\n]*\n$/],
    [['keys'], /^tradepost: the command keys needs a second word: use keys create, keys list, keys revoke\nRun [^\n]*\n$/],
    [['key'], /^tradepost: there is no command "key"\nRun tradepost --help for the list of commands.\n$/],
    [['keys', 'create', '--scopes', 'order'], /--name is missing/],
    [['keys', 'create', '--name', 'a\tb', '--scopes', 'order'], /control characters/],
    [
      ['keys', 'create', '--name', 'ACME', '--scopes', 'order,root'],
      /no scope "root": use order, catalogue, fulfilment, or several of them with commas between/
    ],
    [['keys', 'create', '--name', 'ACME', '--scopes', 'order', '--expires', '2020-01-01'], /future/],
    [['keys', 'create', '--name', 'ACME', '--scopes', 'order', '--expires', '2027-02-30'], /must be a date/],
    [['keys', 'create', '--name', 'ACME', '--scopes', 'order', '--expires', '9999-12-31T23:59:59-01:00'], /before the year 10000/],
    [['keys', 'create', '--name', 'A\uffffB', '--scopes', 'order'], /--name must have/],
    [['keys', 'create', '--name', 'ACME', '--scopes', 'order', 'more'], /unexpected argument "more"/],
    [['keys', 'revoke'], /^tradepost: ID\|KEY is missing\n/],
    [['keys', 'revoke', ''], /^tradepost: ID\|KEY is empty\n/],
    [['keys', 'create', '--name'], /^tradepost: --name needs a value\n/],
    [['keys', 'list', '--al'], /^tradepost: there is no option --al\nUsage: /],
    [['keys', 'create', '--name', '-x'], /'--name' argument is ambiguous.*use '--name=-XYZ'/s]
  ]
  for (const [args, reason] of wrong) t.match(await run(args, settings), { status: 2, stdout: '', stderr: reason }, args.join(' '))
  await (await openStore(settings.DATABASE_URL, 'EUR')).close()
  t.match((await run(['keys', 'list'], settings)).stdout, /^ID\t[^\n]*\n$/, 'only the heading')
})

t.test('a failure is one line without a stack trace', async (t) => {
  const settings = newDatabase(t)
  await (await openStore(settings.DATABASE_URL, 'EUR')).close()
  const failed = [
    await run(['keys', 'revoke', 'k_none'], settings),
    await run(['keys', 'list'], { DATABASE_URL: 'sqlite:/dev/null/shop.db' }),
    await run(['keys', 'list'], { ...settings, PORT: 'x', CURRENCY: 'euro' })
  ]
  for (const { status, stdout, stderr } of failed) {
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(stderr, /^tradepost: \S/)
    t.notMatch(stderr, /^\s+at |\.ts:\d/m)
  }
  t.match(failed[2]?.stderr, /PORT must.*\n.*CURRENCY must/, 'every wrong setting is named')
})

t.test('a table has a heading; it is aligned on a terminal, and tab-separated elsewhere', async (t) => {
  const rows = [
    ['1', 'long name'],
    ['22', '']
  ]
  t.equal(formatTable(['ID', 'NAME'], rows, true), 'ID  NAME\n1   long name\n22\n')
  t.equal(formatTable(['ID', 'NAME'], rows, false), 'ID\tNAME\n1\tlong name\n22\t\n')
})
