import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { settings } from '../../config.ts'
import { run } from './run.ts'

const none = { DATABASE_URL: 'sqlite:/dev/null/never-opened.db' }

t.test('--help lists the commands, each command has its own, and none touches the database', async (t) => {
  const overview = await run(['--help'], none)
  t.match(overview, { status: 0, stderr: '' })
  const commands = [...overview.stdout.matchAll(/^ {2}(\S+(?: \S+)?) {2,}\S/gm)].map(([, name = '']) => name)
  t.ok(commands.length >= 4)
  for (const name of commands) {
    const help = await run([...name.split(' '), '--help'], none)
    t.match(help, { status: 0, stderr: '', stdout: new RegExp(`^Usage: tradepost ${name}`) })
    t.same(await run(['help', ...name.split(' ')], none), help, `help ${name}`)
  }
})

t.test('the help of a first word lists its commands only', async (t) => {
  const { status, stdout } = await run(['keys', '--help'], none)
  t.equal(status, 0)
  t.same(
    [...stdout.matchAll(/^ {2}(\S+ \S+) /gm)].map(([, name]) => name),
    ['keys create', 'keys list', 'keys revoke']
  )
  t.equal((await run(['help', 'keys'], none)).stdout, stdout)
})

t.test('help shows the same as --help', async (t) => {
  t.same(await run(['help'], none), await run(['--help'], none))
})

t.test('--version, -v and version name the version', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const word of ['--version', '-v', 'version'])
    t.same(await run([word], none), { status: 0, stdout: `${version}\n`, stderr: '' }, word)
})

t.test('config shows every setting as it is in effect, and no password', async (t) => {
  const url = 'postgres://shop:s3cret@db.example:5433/shop?password=s3cret'
  const given = { DATABASE_URL: url, BASE_URL: '/shop', RATE_LIMIT: 'off', SAMPLE_CATALOGUE: 'off', TRUST_PROXY: '10.0.0.1, 10.0.0.2' }
  const { status, stdout, stderr } = await run(['config'], given)
  t.match({ status, stderr }, { status: 0, stderr: '' })
  const shown = Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/=(.*)/))
  )
  t.same(Object.keys(shown), Object.keys(settings))
  t.match(shown, { ...given, DATABASE_URL: 'postgres://shop:***@db.example:5433/shop', TRUST_PROXY: '10.0.0.1,10.0.0.2', OPS_PORT: '' })
  t.notMatch(stdout, 's3cret')
  // Its output is valid input for it.
  t.equal((await run(['config'], shown)).stdout, stdout)
})

t.test('config shows no secret, only whether there is one', async (t) => {
  const folder = t.testdir({ secret: 's3cret\n' })
  const shown = async (given: Readonly<Record<string, string>>) => (await run(['config'], given)).stdout.match(/^SESSION_SECRET=.*$/m)?.[0]
  t.equal(await shown({ SESSION_SECRET: 's3cret' }), 'SESSION_SECRET=***')
  t.equal(await shown({ SESSION_SECRET_FILE: join(folder, 'secret') }), 'SESSION_SECRET=***')
  t.equal(await shown({}), 'SESSION_SECRET=')
})

t.test('a command that only reads or changes what is there refuses a database that does not exist, and makes none', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'none.db')
  for (const args of [['keys', 'list'], ['keys', 'revoke', 'k_none'], ['export'], ['backup', join(folder, 'backup.db')]]) {
    t.same(
      await run(args, { DATABASE_URL: `sqlite:${file}` }),
      { status: 1, stdout: '', stderr: `tradepost: there is no database at ${file}: check DATABASE_URL\n` },
      args.join(' ')
    )
  }
  t.same(readdirSync(folder), [])
})

t.test('a command that makes a database names its absolute path', async (t) => {
  const file = join(t.testdir(), 'shop.db')
  const settings = { DATABASE_URL: `sqlite:${relative(process.cwd(), file)}` }
  const csv = 'id,name,price\nA,Bolt,1\n'
  const imported = await run(['import', '-', '--format', 'csv'], settings, csv)
  t.same([imported.status, imported.stderr], [0, `made a new database at ${file}\n`])
  t.same((await run(['import', '-', '--format', 'csv'], settings, csv)).stderr, '')
})
