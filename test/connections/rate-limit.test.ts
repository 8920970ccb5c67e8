import t, { type Test } from 'tap'
import { blockThread } from '../block-thread.ts'
import { browserForm, build, orderXml } from '../build.ts'
import { ask, listening, message, remaining } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'

const orderJson = JSON.stringify({ item: [{ productId: 'ABC-1', quantity: '1' }] })

/** A shop whose clock moves only while it delays refusals, so that its minute does not end on a slow machine. */
async function buildLimited(t: Test, settings: Readonly<Record<string, string>>) {
  stopClock(t).followTimers()
  return build(t, { settings })
}

t.test('every answer tells the limit and what is left of it (draft-ietf-httpapi-ratelimit-headers)', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '5' })
  await listening(app)
  for (const left of [4, 3]) {
    const { headers } = await ask(t, app, message('GET /products'))
    t.equal(headers['ratelimit-policy'], '"default";q=5;w=60;tradepost-body-bytes=65536;tradepost-work-ms=50;tradepost-events=20')
    t.match(headers['ratelimit'], new RegExp(`^"default";r=${left};t=\\d+$`))
    t.notOk(Object.keys(headers).some((name) => name.startsWith('x-ratelimit')))
  }
  t.equal(remaining((await ask(t, app, message('GET /nothing'))).headers), 2, 'refusals count')
  t.equal(remaining((await ask(t, app, message('PATCH /products'))).headers), 1)
  t.equal(remaining((await ask(t, app, message('GET /products', { host: 'a b' }))).headers), 0)
})

t.test('over the limit it is 429 with Retry-After, and nothing is done (RFC 6585 4)', async (t) => {
  const { app, store } = await buildLimited(t, { RATE_LIMIT: '2' })
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
  const person = browserForm
  t.match(await ask(t, app, message('POST /order', person, 'item.1.product-id=ABC-1&item.1.quantity=1')), {
    status: 429,
    body: /What you sent is not lost: reload this page/
  })
  t.notMatch((await ask(t, app, message('GET /products', { accept: 'text/html' }))).body, 'What you sent')
  t.equal((await ask(t, app, message('GET /health/live'))).status, 200, 'health has no limit')
  t.notOk('ratelimit' in (await ask(t, app, message('GET /health/ready'))).headers)
})

t.test('a 304 that needs no product does not count', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '3' })
  const { headers } = await app.inject('/products')
  for (let i = 0; i < 10; i++) {
    const unchanged = await app.inject({ url: '/products', headers: { 'if-none-match': String(headers['etag']) } })
    t.equal(unchanged.statusCode, 304)
    t.equal(remaining(unchanged.headers), 2, 'and takes nothing of what is left')
  }
  t.equal(remaining((await app.inject('/products')).headers), 1)
})

t.test('a 304 counts if the client had nothing to revalidate, or if the resource was read for it', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '20' })
  const left = async (url: string, tag: string) => {
    const { statusCode, headers } = await app.inject({ url, headers: { 'if-none-match': tag } })
    t.equal(statusCode, 304, url)
    return remaining(headers)
  }
  t.same([await left('/products', '*'), await left('/catalogue', ' * '), await left('/product/ABC-1', '*')], [19, 18, 17])
  const { headers } = await app.inject('/product/ABC-1')
  t.same([await left('/product/ABC-1', String(headers['etag'])), await left('/order', '*')], [15, 14])
})

t.test('a body costs one request for each started 64 KiB, with Content-Length or in chunks', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '1000' })
  await listening(app)
  const padded = (length: number) => orderJson.padEnd(length)
  const fields = { 'content-type': 'application/json' }
  const withLength = (body: string) => message('POST /order', fields, body)
  const chunked = (body: string) =>
    `${message('POST /order', { ...fields, 'transfer-encoding': 'chunked' })}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  let last = 1000
  const costOf = async (text: string) => {
    const { status, headers } = await ask(t, app, text)
    t.equal(status, 201)
    const cost = last - remaining(headers)
    last = remaining(headers)
    return cost
  }
  for (const [bytes, cost] of [
    [65_536, 1],
    [65_537, 2],
    [640_000, 10]
  ] as const) {
    for (const send of [withLength, chunked]) {
      // A busy machine may need 50 ms to read the document, which costs one more. So the least of a few counts.
      let least = Number.POSITIVE_INFINITY
      for (let i = 0; i < 5 && least > cost; i++) least = Math.min(least, await costOf(send(padded(bytes))))
      t.equal(least, cost, `${bytes} bytes`)
    }
  }
  for (const send of [withLength, chunked]) {
    const { status, headers } = await ask(t, app, send(padded(2_097_153)))
    t.equal(status, 413)
    t.equal(last - remaining(headers), 32, 'a body that is too large costs the largest')
    last = remaining(headers)
  }
})

t.test('a document that costs more than there is left is read, and the next request is refused', async (t) => {
  const { app, store } = await buildLimited(t, { RATE_LIMIT: '3' })
  const post = (payload: string) => app.inject({ method: 'POST', url: '/order', headers: { 'content-type': 'application/json' }, payload })
  t.match(await post(orderJson.padEnd(1_000_000)), { statusCode: 201, headers: { ratelimit: /r=0;/ } })
  t.equal((await post(orderJson)).statusCode, 429)
  t.equal((await store.orders({ limit: 10 })).items.length, 1)
})

t.test('a document costs one request more for every 50 ms that it takes, whether it is accepted or refused', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '1000' })
  const item = '<item><product-id>none</product-id><quantity>1</quantity></item>'
  const post = (payload: string) => app.inject({ method: 'POST', url: '/order', headers: { 'content-type': 'application/xml' }, payload })
  const order = `<purchase-order>${item.repeat(10_000)}</purchase-order>`
  // The first document in a process also pays for compiling the schema, so the cost of the second one is measured.
  const before = remaining((await post(order)).headers)
  const { statusCode, headers } = await post(order)
  t.equal(statusCode, 422)
  const cost = before - remaining(headers)
  t.ok(cost > Math.ceil(order.length / 65_536), `${cost} requests`)
  t.ok(cost < 200, `such an order is possible several times a minute: it costs ${cost}`)
})

t.test('a clock that is set forward or back changes nothing of when the minute ends', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '1' })
  const after = async () => Number((await app.inject('/products')).headers['retry-after'])
  t.equal((await app.inject('/products')).statusCode, 200)
  const RealDate = Date
  t.teardown(() => Object.assign(globalThis, { Date: RealDate }))
  let last = await after()
  for (const hours of [0, 2, -2]) {
    const moved = () => RealDate.now() + hours * 3_600_000
    class MovedDate extends RealDate {
      constructor(...given: [] | [number]) {
        super(given[0] ?? moved())
      }

      static override now = moved
    }
    Object.assign(globalThis, { Date: MovedDate })
    const seconds = await after()
    t.ok(seconds > 0 && seconds <= last, `${seconds} seconds`)
    last = seconds
  }
})

t.test('a service that is too busy counts what it sheds', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '4', OVERLOAD_DELAY: '10' })
  await app.ready()
  const statuses: number[] = []
  while (!statuses.includes(429) && statuses.length < 10) {
    // The thread is busy until the delay of the event loop has been sampled.
    blockThread(1_100)
    await new Promise((resolve) => setImmediate(resolve))
    statuses.push((await app.inject('/products')).statusCode)
  }
  t.equal(statuses.length, 5)
  t.ok(statuses.includes(503), statuses.join(' '))
})

t.test('failed sign-ins count', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '3' })
  const headers = browserForm
  const signIn = async () => (await app.inject({ method: 'POST', url: '/session', headers, payload: 'key=tp_wrong' })).statusCode
  const statuses = [await signIn(), await signIn(), await signIn(), await signIn()]
  t.equal(statuses[3], 429, statuses.join(' '))
  t.notOk(statuses.slice(0, 3).includes(429))
})

t.test('each address counts for itself, an IPv6 one by its /64', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '1' })
  const from = async (remoteAddress: string) => (await app.inject({ url: '/products', remoteAddress })).statusCode
  t.same([await from('192.0.2.1'), await from('192.0.2.2'), await from('192.0.2.1')], [200, 200, 429])
  t.equal(await from('::ffff:192.0.2.2'), 429, 'IPv4 in IPv6 is the same address')
  t.same([await from('2001:db8::1'), await from('2001:db8::2'), await from('2001:db8:0:1::1')], [200, 429, 200])
})

t.test('an address is what a trusted proxy says, and nobody else', async (t) => {
  const { app } = await buildLimited(t, { RATE_LIMIT: '1', TRUST_PROXY: '10.0.0.1' })
  const from = async (remoteAddress: string, forwarded: string) =>
    (await app.inject({ url: '/products', remoteAddress, headers: { 'x-forwarded-for': forwarded } })).statusCode
  t.same([await from('10.0.0.1', '192.0.2.1'), await from('10.0.0.1', '192.0.2.2'), await from('10.0.0.1', '192.0.2.1')], [200, 200, 429])
  t.same([await from('192.0.2.9', '192.0.2.10'), await from('192.0.2.9', '192.0.2.11')], [200, 429])
})

t.test('a key that was valid has its own count, whatever its address does', async (t) => {
  const { app, key } = await buildLimited(t, { RATE_LIMIT: '3' })
  const [acme, globex] = [await key('ACME', 'order'), await key('Globex', 'order')]
  const get = async (headers: Record<string, string>, remoteAddress = '192.0.2.1') =>
    (await app.inject({ url: '/products', headers, remoteAddress })).statusCode
  t.same([await get(acme), await get(globex)], [200, 200], 'first seen, they count with their address')
  t.same([await get({}), await get({})], [200, 429])
  t.same([await get(acme), await get(acme), await get(acme), await get(acme)], [200, 200, 200, 429])
  t.equal(await get(acme, '192.0.2.77'), 429, 'also from another address')
  t.equal(await get(globex), 200, 'each key for itself')
})

t.test('guests keep no customer of their address out, even if its key comes for the first time', async (t) => {
  const { app, key } = await buildLimited(t, { RATE_LIMIT: '3' })
  const [acme, globex] = [await key('ACME', 'order'), await key('Globex', 'order')]
  const get = async (headers: Record<string, string> = {}) => (await app.inject({ url: '/products', headers })).statusCode
  for (let i = 0; i < 10; i++) await get()
  t.equal(await get(), 429)
  t.same([await get(acme), await get(globex)], [200, 200])
  t.equal(await get({ authorization: 'Bearer tp_wrong' }), 401)
  t.equal(await get({ authorization: 'Bearer tp_wrong' }), 429, 'new keys of an address have a limit together')
})

t.test('guessing keys counts with the address, and over its limit no key is even looked up', async (t) => {
  const { app, store, key } = await buildLimited(t, { RATE_LIMIT: '5' })
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
  const { app, store, key } = await buildLimited(t, { RATE_LIMIT: '4' })
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
