import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError, readConfig } from '../config.ts'

t.test('an empty setting is one that is not set', async (t) => {
  const empty = readConfig({ HOST: '', PORT: '', BASE_URL: '', DATABASE_URL: '', GUEST_ORDERS: '', TRUST_PROXY: '' })
  t.same(empty, readConfig({}))
  t.equal(empty.HOST, '127.0.0.1', 'never every address')
  t.equal(empty.SEND_TIMEOUT, 30, 'a client that reads nothing is cut off')
})

t.test('every setting that is wrong is named at once, with what it may be', async (t) => {
  const wrong: Readonly<Record<string, readonly (readonly [value: string, reason: RegExp])[]>> = {
    HOST: [
      [' ', /IP address or a host name/],
      ['http://x', /IP address or a host name/]
    ],
    PORT: [
      ['65536', /from 0 to 65535/],
      ['http', /whole number/]
    ],
    BASE_URL: [
      ['shop', /starts with \//],
      ['/metrics', /for the operator/],
      ['/health/x', /for the operator/],
      ['/a b', /characters/],
      ['https://shop.example/?q', /query/]
    ],
    TRUST_PROXY: [
      ['foo', /"foo"/],
      ['10.0.0.1, 10.0.0.0/33', /"10\.0\.0\.0\/33"/],
      ['10.0.0.0/8/8', /CIDR/],
      ['::1/129', /CIDR/]
    ],
    WEBHOOK_ALLOW: [
      ['http://x', /has "http:\/\/x", which is no host name, IP address or CIDR range. Write it without http:\/\/$/],
      ['erp.internal, 10.0.0.0/33', /has "10\.0\.0\.0\/33", which is no host name, IP address or CIDR range$/]
    ],
    CURRENCY: [['euro', /ISO 4217/]],
    RATE_LIMIT: [['none', /must be off, or a whole number of 1 or more, not "none"$/]],
    SHUTDOWN_TIMEOUT: [['2592000', /from 1 to 86400/]],
    SHUTDOWN_DELAY: [['86401', /from 0 to 86400/]],
    REQUEST_TIMEOUT: [['0', /from 1 to 86400/]],
    DATABASE_URL: [
      ['mysql://x', /sqlite:PATH or postgres:[^,]+$/],
      ['sqlite:', /sqlite:PATH or postgres/],
      ['sqlite://data/shop.db', /plain path after sqlite:/],
      ['sqlite:~/shop.db', /plain path/],
      ['sqlite::memory:', /plain path/],
      ['sqlite:file:shop.db?mode=ro', /plain path/]
    ]
  }
  for (const [name, cases] of Object.entries(wrong)) {
    for (const [value, reason] of cases) {
      t.throws(
        () => readConfig({ [name]: value }),
        { name: 'ConfigError', message: new RegExp(`^${name} .*${reason.source}`) },
        `${name}=${value}`
      )
    }
  }
  const all = { HOST: ' ', PORT: 'x', TRUST_PROXY: 'x' }
  t.throws(() => readConfig(all), new ConfigError(), 'a ConfigError')
  try {
    readConfig(all)
  } catch (error) {
    t.same((error as Error).message.match(/^[A-Z_]+/gm), ['HOST', 'PORT', 'TRUST_PROXY'])
  }
})

t.test('addresses are those of hosts and of proxies', async (t) => {
  for (const HOST of ['0.0.0.0', '::', '::1', 'shop.internal', '10.1.2.3']) t.equal(readConfig({ HOST }).HOST, HOST)
  t.equal(readConfig({ HOST: 'LOCALHOST' }).HOST, '127.0.0.1')
  t.same(readConfig({ TRUST_PROXY: '10.0.0.0/8 ::1, fd00::/8' }).TRUST_PROXY, ['10.0.0.0/8', '::1', 'fd00::/8'])
})

t.test('a range of all addresses is no proxy: every client could choose its address', async (t) => {
  for (const range of ['0.0.0.0/0', '::/0', '10.0.0.0/00'])
    t.throws(() => readConfig({ TRUST_PROXY: range }), { name: 'ConfigError', message: `TRUST_PROXY has "${range}", with which` }, range)
  t.same(readConfig({ WEBHOOK_ALLOW: '0.0.0.0/0' }).WEBHOOK_ALLOW, ['0.0.0.0/0'])
})

t.test('the name of the shop can be in an XML document', async (t) => {
  t.throws(() => readConfig({ SHOP_NAME: 'A\u0001B' }), { message: 'SHOP_NAME has a character that no XML document can have: U+0001' })
  t.equal(readConfig({ SHOP_NAME: 'Müller & Söhne 🔩' }).SHOP_NAME, 'Müller & Söhne 🔩')
})

t.test('health and metrics need another port than the shop, unless both are picked', async (t) => {
  const message = 'OPS_PORT must be another port than PORT, which is 3000'
  t.throws(() => readConfig({ OPS_PORT: '3000' }), { name: 'ConfigError', message })
  t.equal(readConfig({ PORT: '0', OPS_PORT: '0' }).OPS_PORT, 0)
})

t.test('a file of a secret that cannot be read is named with its setting and the reason', async (t) => {
  const folder = t.testdir({ locked: 's3cret' })
  const locked = join(folder, 'locked')
  chmodSync(locked, 0)
  const reasons: Readonly<Record<string, string>> = {
    '/no-such-file': 'which does not exist',
    [folder]: 'which is a folder',
    // Root can read every file, so only another user is refused.
    ...(process.getuid?.() === 0 ? {} : { [locked]: 'which this user has no permission to read' })
  }
  for (const [file, reason] of Object.entries(reasons)) {
    t.throws(() => readConfig({ SESSION_SECRET_FILE: file }), { message: `SESSION_SECRET_FILE names ${file}, ${reason}` })
  }
})

t.test('a file of a secret that is empty is refused: its secret would be the default', async (t) => {
  const folder = t.testdir({ empty: '', blank: ' \n' })
  for (const file of [join(folder, 'empty'), join(folder, 'blank')]) {
    for (const name of ['SESSION_SECRET', 'DATABASE_URL']) {
      t.throws(() => readConfig({ [`${name}_FILE`]: file }), { name: 'ConfigError', message: `${name}_FILE: the file ${file} is empty` })
    }
  }
})
