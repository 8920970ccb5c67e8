import t from 'tap'
import { build, orderXml } from '../build.ts'
import { ask, listening, message } from './wire.ts'

/** The remaining requests that an answer's RateLimit field tells. */
const remaining = (headers: Readonly<Record<string, unknown>>) => Number(/;r=(\d+);/.exec(String(headers['ratelimit']))?.[1])

t.test('every answer tells the limit and what is left of it (draft-ietf-httpapi-ratelimit-headers)', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '5' } })
  await listening(app)
  for (const left of [4, 3]) {
    const { headers } = await ask(t, app, message('GET /products'))
    t.equal(headers['ratelimit-policy'], '"default";q=5;w=60')
    t.match(headers['ratelimit'], new RegExp(`^"default";r=${left};t=\\d+$`))
    t.notOk(Object.keys(headers).some((name) => name.startsWith('x-ratelimit')))
  }
  t.equal(remaining((await ask(t, app, message('GET /nothing'))).headers), 2, 'refusals count')
  t.equal(remaining((await ask(t, app, message('PATCH /products'))).headers), 1)
  t.equal(remaining((await ask(t, app, message('GET /products', { host: 'a b' }))).headers), 0)
})

t.test('over the limit it is 429 with Retry-After, and nothing is done (RFC 6585 4)', async (t) => {
  const { app, store } = await build(t, { settings: { RATE_LIMIT: '2' } })
  await listening(app)
  const order = message('POST /order', { 'content-type': 'application/xml' }, orderXml())
  t.same([(await ask(t, app, order)).status, (await ask(t, app, order)).status], [201, 201])
  const refused = await ask(t, app, order)
  t.match(refused, {
    status: 429,
    headers: {
      'content-type': 'application/problem+xml',
      'cache-control': 'no-store',
      'retry-after': /^\d+$/,
      ratelimit: /^"default";r=0;t=\d+$/
    }
  })
  t.equal(refused.headers['retry-after'], /t=(\d+)/.exec(refused.headers['ratelimit'] ?? '')?.[1])
  t.equal((await store.orders({ limit: 10 })).items.length, 2)
  const person = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
  t.match(await ask(t, app, message('POST /order', person, 'item.1.product-id=ABC-1&item.1.quantity=1')), {
    status: 429,
    body: /What you sent is not lost: reload this page/
  })
  t.notMatch((await ask(t, app, message('GET /products', { accept: 'text/html' }))).body, 'What you sent')
  t.equal((await ask(t, app, message('GET /health/live'))).status, 200, 'health has no limit')
  t.notOk('ratelimit' in (await ask(t, app, message('GET /health/ready'))).headers)
})

t.test('a 304 does not count', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const { headers } = await app.inject('/products')
  for (let i = 0; i < 10; i++) {
    const unchanged = await app.inject({ url: '/products', headers: { 'if-none-match': String(headers['etag']) } })
    t.equal(unchanged.statusCode, 304)
    t.equal(remaining(unchanged.headers), 2, 'and takes nothing of what is left')
  }
  t.equal(remaining((await app.inject('/products')).headers), 1)
})

t.test('each address counts for itself, an IPv6 one by its /64', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '1' } })
  const from = async (remoteAddress: string) => (await app.inject({ url: '/products', remoteAddress })).statusCode
  t.same([await from('192.0.2.1'), await from('192.0.2.2'), await from('192.0.2.1')], [200, 200, 429])
  t.equal(await from('::ffff:192.0.2.2'), 429, 'IPv4 in IPv6 is the same address')
  t.same([await from('2001:db8::1'), await from('2001:db8::2'), await from('2001:db8:0:1::1')], [200, 429, 200])
})

t.test('an address is what a trusted proxy says, and nobody else', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '1', TRUST_PROXY: '10.0.0.1' } })
  const from = async (remoteAddress: string, forwarded: string) =>
    (await app.inject({ url: '/products', remoteAddress, headers: { 'x-forwarded-for': forwarded } })).statusCode
  t.same([await from('10.0.0.1', '192.0.2.1'), await from('10.0.0.1', '192.0.2.2'), await from('10.0.0.1', '192.0.2.1')], [200, 200, 429])
  t.same([await from('192.0.2.9', '192.0.2.10'), await from('192.0.2.9', '192.0.2.11')], [200, 429])
})

t.test('a key that proved good counts for itself, whatever its address does', async (t) => {
  const { app, key } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const [acme, globex] = [await key('ACME', 'order'), await key('Globex', 'order')]
  const get = async (headers: Record<string, string>, remoteAddress = '192.0.2.1') =>
    (await app.inject({ url: '/products', headers, remoteAddress })).statusCode
  t.same([await get(acme), await get(globex)], [200, 200], 'first seen, they count with their address')
  t.same([await get({}), await get({})], [200, 429])
  t.same([await get(acme), await get(acme), await get(acme), await get(acme)], [200, 200, 200, 429])
  t.equal(await get(acme, '192.0.2.77'), 429, 'also from another address')
  t.equal(await get(globex), 200, 'each key for itself')
})

t.test('guessing keys counts with the address, and over its limit no key is even looked up', async (t) => {
  const { app, store, key } = await build(t, { settings: { RATE_LIMIT: '5' } })
  const good = await key('ACME', 'order')
  t.equal((await app.inject({ url: '/products', headers: good })).statusCode, 200)
  const findKey = store.findKey
  let lookUps = 0
  store.findKey = (hash) => {
    lookUps++
    return findKey.call(store, hash)
  }
  const statuses = []
  for (let i = 0; i < 20; i++)
    statuses.push((await app.inject({ url: '/products', headers: { authorization: `Bearer tp_${i}` } })).statusCode)
  t.same(statuses, [...Array(4).fill(401), ...Array(16).fill(429)])
  t.equal(lookUps, 4)
  t.equal((await app.inject('/products')).statusCode, 429, 'a bad key does not dodge the limit of its address')
  t.equal((await app.inject({ url: '/products', headers: good })).statusCode, 200, 'who has a good key is not kept out by a neighbour')
})

t.test('a key that was revoked counts with its address again', async (t) => {
  const { app, store, key } = await build(t, { settings: { RATE_LIMIT: '4' } })
  const headers = await key('ACME', 'order')
  const get = async () => (await app.inject({ url: '/products', headers })).statusCode
  t.same([await get(), await get()], [200, 200])
  await store.revokeKey((await store.keys())[0]?.id ?? '')
  t.same([await get(), await get(), await get(), await get(), await get()], [401, 401, 401, 401, 429])
})

t.test('it can be switched off', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: 'off' } })
  t.notOk('ratelimit' in (await app.inject('/products')).headers)
})
