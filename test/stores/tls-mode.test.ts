import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { Database } from '../../stores/postgres/database.ts'
import { makeClient, openError } from '../../stores/postgres/open-error.ts'

const at = (query: string) => `postgres://shop:s3cret@127.0.0.1:1/shop${query}`

/** How a client checks the server's certificate. Undefined: it uses no TLS. */
function checkOf(query: string): 'whole' | 'none' | undefined {
  const { ssl } = makeClient(at(query), {}) as unknown as { readonly ssl: false | { readonly rejectUnauthorized?: boolean } }
  if (ssl === false) return undefined
  return ssl.rejectUnauthorized === false ? 'none' : 'whole'
}

t.test('every sslmode that asks for TLS checks the certificate and the host, and the driver warns of none', async (t) => {
  const warnings: string[] = []
  const listen = ({ message }: Error) => warnings.push(message)
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  for (const mode of ['require', 'prefer', 'verify-ca', 'verify-full']) {
    for (const query of [`?sslmode=${mode}`, `?connect_timeout=2&sslmode=${mode}&application_name=shop`])
      t.equal(checkOf(query), 'whole', query)
  }
  const database = new Database(at('?sslmode=require'), 1)
  await t.rejects(database.query('SELECT 1'), { code: 'store-unavailable' })
  await database.close()
  await turnOfTheLoop()
  t.same(warnings, [])
})

t.test('an sslmode that asks for no check is as it was given', async (t) => {
  t.equal(checkOf(''), undefined)
  t.equal(checkOf('?sslmode=disable'), undefined)
  t.equal(checkOf('?sslmode=no-verify'), 'none')
  t.equal(checkOf('?sslmode=require&uselibpqcompat=true'), 'none')
})

t.test('a parameter that looks like one of TLS and is none is refused, because the connection would not be encrypted', async (t) => {
  for (const name of ['ssl_mode', 'sslMode', 'sslrootcrt', 'use_ssl'])
    t.throws(() => makeClient(at(`?${name}=verify-full`), {}), { name: 'StoreOpenError', message: new RegExp(`"${name}".*sslmode`) })
  t.equal(checkOf('?ssl=true'), 'whole')
})

t.test('a certificate that is not trusted is told apart from a server that is not there', async (t) => {
  for (const [code, message] of [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate'],
    ['CERT_HAS_EXPIRED', 'certificate has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames"]
  ])
    t.match(openError(Object.assign(new Error(message), { code }), { host: 'db', port: 5432, user: 'shop', database: 'shop' }), {
      name: 'StoreOpenError',
      message: /^PostgreSQL at db:5432 has a certificate that is not trusted .*: add sslrootcert=.*host name/
    })
})
