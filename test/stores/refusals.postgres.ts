import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { StoreOpenError } from '../../domain/errors.ts'
import { Database } from '../../stores/postgres/database.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { execute, postgresFor } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'

const server = await postgresFor(t)

/** The error of opening a database: one line, without the password. */
async function refusal(t: Test, url: string): Promise<string> {
  const error = await openPostgresStore({ url, currency: shopCurrency }).then(
    () => undefined,
    (error: unknown) => error
  )
  if (!(error instanceof StoreOpenError)) throw error ?? new Error('it was opened')
  t.notMatch(error.message, /\n/)
  t.notMatch(error.message, /s3cret/)
  const { password } = URL.canParse(url) ? new URL(url) : { password: '' }
  if (password !== '') t.notOk(error.message.includes(password), 'it has no password')
  return error.message
}

function changed(url: string, change: Partial<Pick<URL, 'username' | 'password' | 'pathname' | 'port'>>): string {
  return Object.assign(new URL(url), change).href
}

t.test('a server that is not there is named, with what to do', async (t) => {
  t.match(
    await refusal(t, 'postgres://shop:s3cret@127.0.0.1:1/shop'),
    /^PostgreSQL at 127\.0\.0\.1:1 cannot be reached .*: start it, or correct DATABASE_URL$/
  )
})

t.test('a server without TLS is told apart from one that is not there', async (t) => {
  const url = new URL(await server.database())
  url.searchParams.set('sslmode', 'require')
  t.match(await refusal(t, url.href), /^PostgreSQL at .* has no TLS \(.*\): turn it on there, or leave sslmode out of DATABASE_URL$/)
})

t.test('a server that does not answer is given up after connect_timeout, which must be a whole number', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const url = `postgres://shop:s3cret@127.0.0.1:${port}/shop?connect_timeout=`
  t.match(await refusal(t, `${url}1`), new RegExp(`^PostgreSQL at 127\\.0\\.0\\.1:${port} cannot be reached \\(timeout expired\\)`))
  t.match(await refusal(t, `${url}soon`), /^connect_timeout in DATABASE_URL is "soon": give it as a whole number of seconds$/)
})

t.test('connect_timeout also limits how long a statement waits for a connection', async (t) => {
  const url = new URL(await server.database())
  url.searchParams.set('connect_timeout', '1')
  const database = new Database(url.href, 1)
  t.teardown(() => database.close())
  const connected = () =>
    database.query('SELECT 1').then(
      () => true,
      () => false
    )
  // The limit is also one of the connection itself, which a busy machine may exceed.
  while (!(await connected()));
  let free = () => {}
  const held = new Promise<void>((resolve) => (free = resolve))
  const holding = database.transaction(() => held)
  await t.rejects(database.query('SELECT 1'), { code: 'store-unavailable' })
  free()
  await holding
  t.match(await database.query('SELECT 1 AS one'), [{ one: 1 }], 'the connection is free again')
})

t.test('a wrong password, an unknown user and a missing database are named, with what to do', async (t) => {
  const url = await server.database()
  const { port } = new URL(url)
  const refused = new RegExp(
    `^PostgreSQL at 127\\.0\\.0\\.1:${port} refuses the user "(postgres|nobody)" .*: correct the user and the password`
  )
  t.match(await refusal(t, changed(url, { password: 's3cret' })), refused)
  t.match(await refusal(t, changed(url, { username: 'nobody', password: 's3cret' })), refused)
  t.match(await refusal(t, changed(url, { password: '' })), /asks for a password/)
  t.match(await refusal(t, changed(url, { pathname: '/none' })), new RegExp(`:${port} has no database "none": create it`))
})

t.test('the error for a malformed URL shows no part of it', async (t) => {
  for (const url of [
    'postgres://shop:s3cret/x@127.0.0.1/shop',
    'postgres://shop:1#s3cret@127.0.0.1/shop',
    'postgres://shop:s3cret@127.0.0.1:x/shop'
  ]) {
    t.match(await refusal(t, url), /^DATABASE_URL cannot be read: write postgres:\/\//)
  }
})

t.test("the message for a user who may not make tables names the owner's role", async (t) => {
  const url = await server.database()
  await execute(url, "CREATE ROLE guest LOGIN PASSWORD 's3cret'")
  t.match(
    await refusal(t, changed(url, { username: 'guest', password: 's3cret' })),
    /^the user "guest" has no right .*: make it the database's owner$/
  )
})

t.test('a database of something else is refused and left alone', async (t) => {
  const tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname"
  for (const theirs of [
    'CREATE TABLE product (theirs text)',
    'CREATE TABLE migration (theirs text)',
    'CREATE TABLE invoice (theirs text)'
  ]) {
    const url = await server.database()
    await execute(url, theirs)
    const before = await execute(url, tables)
    t.match(
      await refusal(t, url),
      /^the database "test_\d+" of PostgreSQL at .* is of something else, not of Tradepost .*: give Tradepost a database of its own$/
    )
    t.same(await execute(url, tables), before)
  }
})

t.test('the errors say that the schema is newer, or the encoding or the currency is another', async (t) => {
  const url = await server.database()
  await (await openPostgresStore({ url, currency: shopCurrency })).close()
  await execute(url, "INSERT INTO migration (number, name) VALUES (9999, 'later')")
  t.match(await refusal(t, url), /has the schema 9999, this Tradepost knows only up to \d+: run the newer one/)
  await execute(url, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER 'libc' TEMPLATE template0")
  t.match(await refusal(t, await server.database('latin')), /^the database "latin" .* is in LATIN1, and Tradepost needs UTF8/)
})
