import t from 'tap'
import { postgresFor } from '../stores/embedded.ts'
import { run } from './run.ts'

t.test('the commands work on PostgreSQL too', async (t) => {
  const server = await postgresFor(t)
  const settings = { DATABASE_URL: await server.database() }
  t.match(await run(['migrate'], settings), { status: 0, stdout: /^applied 0001-/, stderr: '' })

  const made = await run(['keys', 'create', '--name', 'ACME', '--scopes', 'order'], settings)
  t.match(made, { status: 0, stdout: /^tp_/, stderr: '' })
  const [id = '', name] = (await run(['keys', 'list'], settings)).stdout.split('\n')[1]?.split('\t') ?? []
  t.equal(name, 'ACME')
  t.match(await run(['keys', 'revoke', id], settings), { status: 0, stderr: '' })

  const heading = 'id,name,description,price,currency,unit,minimum-quantity,quantity-step,gtin,category,image,backorder,on-hand\r\n'
  const csv = `${heading}A,"Bolt, ""hex""","",9.90,EUR,C62,5,2.50,4006381333931,a\\|b|c,,none,2.5\r\nB,\u{1f600},,1,EUR,KGM,,,,,/b,allowed,-3\r\n`
  t.match(await run(['import', '-', '--format', 'csv', '--dry-run'], settings, csv), { status: 0, stdout: /^2 read: 2 created/ })
  t.match(await run(['import', '-', '--format', 'csv'], settings, csv), { status: 0, stdout: /^2 read: 2 created/, stderr: '' })
  t.match(await run(['import', '-', '--format', 'csv'], settings, csv), { status: 0, stdout: /2 unchanged/ })
  const taken = await run(['import', '-', '--format', 'csv'], settings, csv.replace('\nA', '\nC'))
  t.match(taken, { status: 1, stdout: /1 unchanged, 1 refused/, stderr: /^standard input:2: C: .*\bA\b/ })
  t.equal((await run(['export', '--format', 'csv'], settings)).stdout, csv)

  // Lines that are about one GTIN, far from each other.
  const others = Array.from({ length: 700 }, (_, i) => `n-${i},n,1,\n`).join('')
  const far = `id,name,price,gtin\nA,Bolt,1,\ntwice,n,1,9520714000376\n${others}new,n,1,4006381333931\ntwice,n,1,9520714000376\nother,n,1,9520714000376\n`
  const dryRun = await run(['import', '-', '--format', 'csv', '--dry-run'], settings, far)
  t.match(dryRun, {
    status: 1,
    stdout: /702 created, 1 replaced, 1 unchanged, 1 refused/,
    stderr: /^standard input:705: twice: The same id is on line 3\..*\nstandard input:706: other: .*\btwice\b/
  })
  const result = await run(['import', '-', '--format', 'csv'], settings, far)
  t.same({ ...result, stdout: `${result.stdout.trimEnd()} (a dry run: nothing was stored)\n` }, dryRun)

  t.match(await run(['backup', 'shop.db'], settings), { status: 1, stderr: /pg_dump/ })
})

t.test('a command says that the database server is not there, without the password', async (t) => {
  const { status, stderr } = await run(['keys', 'list'], { DATABASE_URL: 'postgres://shop:s3cret@127.0.0.1:1/shop' })
  t.equal(status, 1)
  t.match(stderr, /^tradepost: PostgreSQL at 127\.0\.0\.1:1 cannot be reached .*: start it, or correct DATABASE_URL\n$/)
  t.notMatch(stderr, /s3cret|^\s+at /m)
})
