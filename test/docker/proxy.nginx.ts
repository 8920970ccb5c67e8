import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Answered } from '../ask.ts'
import { draft, orderXml, xml } from '../build.ts'
import { buildProxied } from './nginx.ts'

// Not part of `npm test`, because it needs nginx: npm run test:proxy

const cached = ({ headers }: Answered) => headers['cache-status']
const changedProduct = '<product><name>Changed</name><price>9.99</price><unit>C62</unit></product>'

/** The first answer that is no longer fresh in the cache. nginx counts lifetimes in whole seconds. */
async function onceStale(ask: () => Promise<Answered>): Promise<Answered> {
  for (;;) {
    const answer = await ask()
    if (cached(answer) !== 'nginx; hit') return answer
    await sleep(50)
  }
}

t.test('a product is answered from the cache while it is fresh (RFC 9111 section 4.2)', async (t) => {
  const { send, seen } = await buildProxied(t)
  const first = await send('/product/ABC-1')
  t.match(first, { status: 200, headers: { 'content-type': /^application\/xml/, etag: /^"/ } })
  t.equal(cached(first), 'nginx; fwd=miss')
  const second = await send('/product/ABC-1')
  t.equal(cached(second), 'nginx; hit')
  t.equal(second.body, first.body)
  t.equal(second.headers.etag, first.headers.etag)
  const head = await send('/product/ABC-1', { method: 'HEAD' })
  t.match(head, { status: 200, body: '', headers: { 'content-length': String(Buffer.byteLength(first.body)) } })
  t.equal(cached(head), 'nginx; hit')
  t.equal(seen.requests, 1)
})

t.test('the cache answers 304 to an entity tag that it holds (RFC 9111 section 4.3.2)', async (t) => {
  const { send, seen } = await buildProxied(t)
  const { headers } = await send('/product/ABC-1')
  const tag = String(headers.etag)
  for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const answer = await send('/product/ABC-1', { headers: { 'if-none-match': condition } })
    t.match(answer, { status: 304, body: '', headers: { etag: tag, vary: 'Accept', 'cache-control': /^public/ } }, condition)
  }
  t.equal((await send('/product/ABC-1', { headers: { 'if-modified-since': String(headers['last-modified']) } })).status, 304)
  t.equal((await send('/product/ABC-1', { headers: { 'if-none-match': '"other"' } })).status, 200)
  t.equal(seen.requests, 1)
  t.equal((await send('/product/ABC-1', { headers: { 'if-match': '"other"' } })).status, 412, 'other preconditions are the service’s')
  t.equal(seen.requests, 2)
})

t.test('a changed product is seen when its lifetime is over, and an unchanged one is revalidated (RFC 9111 section 4.3)', async (t) => {
  const { send, key } = await buildProxied(t, { settings: { CACHE_MAX_AGE: '1', CACHE_STALE_WHILE_REVALIDATE: '0' } })
  const seller = await key('Shop', 'catalogue')
  const before = await send('/product/ABC-1')
  const same = await onceStale(() => send('/product/ABC-1'))
  t.equal(cached(same), 'nginx; fwd=stale; fwd-status=304')
  t.equal(same.body, before.body)
  const put = await send('/product/ABC-1', {
    method: 'PUT',
    headers: { ...xml, ...seller, 'if-match': String(before.headers.etag) },
    body: changedProduct
  })
  t.equal(put.status, 200, 'the entity tag that the cache gave is good for If-Match')
  const after = await onceStale(() => send('/product/ABC-1', { headers: { 'if-none-match': String(before.headers.etag) } }))
  t.match(after, { status: 200, body: /Changed/ })
  t.not(after.headers.etag, before.headers.etag)
})

t.test('a stale answer stands in for stale-while-revalidate, once (RFC 5861 section 3)', async (t) => {
  const { send, store } = await buildProxied(t, { settings: { CACHE_MAX_AGE: '1', CACHE_STALE_WHILE_REVALIDATE: '60' } })
  await send('/product/ABC-1')
  await store.putProduct('ABC-1', draft({ name: 'Changed' }), {})
  const stale = await onceStale(() => send('/product/ABC-1'))
  t.equal(cached(stale), 'nginx; hit; detail=stale')
  t.notMatch(stale.body, /Changed/)
  while (!(await send('/product/ABC-1')).body.includes('Changed')) await sleep(20)
  t.match((await send('/product/ABC-1')).body, /Changed/)
})

t.test('a reload asks the service, and everybody gets what it said (RFC 9111 section 5.2.1)', async (t) => {
  const { send, store } = await buildProxied(t)
  const { headers } = await send('/product/ABC-1')
  await store.putProduct('ABC-1', draft({ name: 'Changed' }), {})
  t.notMatch((await send('/product/ABC-1')).body, /Changed/)
  const reloaded = await send('/product/ABC-1', { headers: { 'cache-control': 'max-age=0', 'if-none-match': String(headers.etag) } })
  t.match(reloaded, { status: 200, body: /Changed/ })
  const next = await send('/product/ABC-1')
  t.equal(cached(next), 'nginx; hit')
  t.match(next.body, /Changed/)
})

t.test('the representations of one URI are never mixed (RFC 9111 section 4.1)', async (t) => {
  const { send } = await buildProxied(t)
  const types = ['application/xml', 'text/html', 'application/json']
  for (const uri of ['/product/ABC-1', '/products', '/products?limit=1']) {
    const tags = new Set<string | undefined>()
    for (const expected of ['nginx; fwd=miss', 'nginx; hit']) {
      for (const type of types) {
        const answer = await send(uri, { headers: { accept: type } })
        t.equal(cached(answer), expected, `${type} of ${uri}`)
        t.ok(answer.headers['content-type']?.startsWith(type))
        tags.add(answer.headers.etag)
      }
    }
    t.equal(tags.size, types.length)
    t.match((await send(uri)).headers['content-type'], /^application\/xml/, 'no Accept means XML')
  }
  t.equal((await send('/product/ABC-1', { headers: { accept: 'image/png' } })).status, 406)
})

t.test('the service itself answers every request with a key or a cookie', async (t) => {
  const { send, key } = await buildProxied(t)
  await send('/product/ABC-1')
  const buyer = await key('ACME', 'order')
  const shown = await send('/product/ABC-1', { headers: buyer })
  t.match(shown, { status: 200, headers: { 'cache-status': undefined } })
  t.equal(
    (await send('/product/ABC-1', { headers: { authorization: 'Bearer tp_wrong' } })).status,
    401,
    'also where the cache has an answer'
  )
  t.equal(cached(await send('/product/ABC-1', { headers: { cookie: 'a=b' } })), undefined)
  t.equal((await send('/product/ABC-1', { headers: { ...buyer, 'if-none-match': String(shown.headers.etag) } })).status, 304)
  t.match(await send('/product/ABC-1/stock'), { status: 200, headers: { 'cache-status': undefined } })
})

t.test('an order is placed, read, changed and never cached', async (t) => {
  const { send, accessLog } = await buildProxied(t)
  const headers = { ...xml, 'idempotency-key': 'a-guest-needs-a-long-key', 'transfer-encoding': 'chunked' }
  const placed = await send('/order', { method: 'POST', headers, body: orderXml() })
  t.match(placed, { status: 201, headers: { location: /^\/order\// } })
  t.match(await send('/order', { method: 'POST', headers, body: orderXml() }), { status: 201, headers: { 'idempotent-replayed': 'true' } })
  const uri = String(placed.headers.location)
  const read = await send(uri)
  t.match(read, { status: 200, body: placed.body, headers: { 'cache-control': /^private/, 'cache-status': undefined } })
  const tag = String(read.headers.etag)
  t.equal((await send(uri, { headers: { 'if-none-match': tag } })).status, 304)
  t.equal((await send(uri, { method: 'PUT', headers: xml, body: orderXml({ 'ABC-1': 2 }) })).status, 428)
  t.match(await send(uri, { method: 'PUT', headers: { ...xml, 'if-match': tag }, body: orderXml({ 'ABC-1': 2 }) }), {
    status: 200,
    body: />2</
  })
  t.equal((await send(uri, { method: 'PUT', headers: { ...xml, 'if-match': tag }, body: orderXml() })).status, 412)
  t.match(await send(uri), { body: />2</ })
  t.match(await accessLog(), /"uri":"\/order\/[^"]{8}\.\.\."/)
  t.notMatch(await accessLog(), uri, 'its URI is a capability')
  const id = uri.slice('/order/'.length)
  const shown = `${id.slice(0, 8)}...`
  const logged = {
    '/orders?limit=1&status=accepted': '/orders?limit=1&status=accepted',
    '/orders?limit=1&after=b3JkZXJzIDEwN2E1MzI1&status=accepted': '/orders?...',
    '/session?next=%2Forders%3Fafter%3Db3JkZXJzIDEwN2E1MzI1': '/session?...',
    [`/session?next=%2Forder%2F${id}&a=b`]: '/session?...',
    [`/session?next=%2Forder%2F${id.replaceAll('-', '%2D')}`]: '/session?...',
    [`/orders?order-number=${id}&back=/order/${id}`]: '/orders?...',
    [`/%6frder/${id}/status?a=b`]: `/order/${shown}/status?a=b`,
    [`/a%0A/order/${id}`]: `/a\\n/order/${shown}`,
    [`/order/${id}/order/${id}`]: `/order/${shown}/order`,
    [`/order/${id}/order/abc-${id}`]: `/order/${shown}/order`
  }
  for (const [requested, line] of Object.entries(logged)) {
    await send(requested)
    t.match(await accessLog(), `"uri":"${line}"`, requested)
  }
  t.notMatch(await accessLog(), id)
})

t.test('everything that the service calls public is cached, but /catalogue and the home page', async (t) => {
  const { send } = await buildProxied(t)
  const { headers } = await send('/product/ABC-1')
  t.match(headers['cache-control'], /^public/)
  for (const uri of [
    '/products',
    '/docs',
    '/docs/orders',
    '/openapi.json',
    '/schemas/order.xsd',
    '/problems/invalid-order',
    '/public/shop.css'
  ]) {
    const answer = await send(uri, { headers: { accept: '*/*' } })
    t.match(answer.headers['cache-control'], /^public/, uri)
    t.equal(cached(answer), 'nginx; fwd=miss', uri)
  }
})

t.test('only what nobody puts back is compressed: its entity tag becomes weak (RFC 9110 section 8.8.3.3)', async (t) => {
  const { send } = await buildProxied(t, { products: { 'ABC-1': { description: 'long '.repeat(500) } } })
  for (const accept of ['application/xml', 'application/json']) {
    const answer = await send('/product/ABC-1', { headers: { accept, 'accept-encoding': 'gzip' } })
    t.match(answer, { status: 200, headers: { etag: /^"/, 'content-encoding': undefined } }, accept)
  }
  const page = await send('/product/ABC-1', { headers: { accept: 'text/html', 'accept-encoding': 'gzip' } })
  t.match(page.headers, { etag: /^W\/"/, 'content-encoding': 'gzip', vary: /Accept-Encoding/ })
  t.equal((await send('/product/ABC-1', { headers: { accept: 'text/html', 'if-none-match': String(page.headers.etag) } })).status, 304)
})

t.test('the service itself says that a body is too large', async (t) => {
  const { send, config } = await buildProxied(t)
  for (let i = 0; i < 20; i++) {
    const answer = await send('/order', { method: 'POST', headers: xml, body: Buffer.alloc(config.BODY_LIMIT + 1 + i * 50_000, ' ') })
    t.match(answer, {
      status: 413,
      headers: { 'content-type': /^application\/problem\+xml/ },
      body: new RegExp(`${config.BODY_LIMIT} bytes`)
    })
  }
  const huge = await send('/order', { method: 'POST', headers: { ...xml, 'content-length': 100_000_000 } })
  t.match(huge, { status: 413, headers: { 'content-type': 'application/problem+xml' } }, 'nginx says so of what it does not take either')
})

t.test('health and metrics are not public, however their paths are written', async (t) => {
  const { send, sendDirectly, seen } = await buildProxied(t)
  t.equal((await sendDirectly('/metrics')).status, 200, 'the service has them')
  const { requests } = seen
  for (const path of [
    '/metrics',
    '/metrics?x',
    '/%6detrics',
    '//metrics',
    '/health/live',
    '/health/ready',
    '/health%2Fready',
    '/x/../health/live'
  ]) {
    const answer = await send(path)
    t.match(answer, { status: 404, headers: { 'content-type': 'application/problem+xml', 'cache-control': 'no-store' } }, path)
    t.notOk(answer.headers['strict-transport-security'])
  }
  t.match(await send('/health/live', { headers: { accept: 'text/html' } }), { status: 404, headers: { 'content-type': /^text\/html/ } })
  t.equal(seen.requests, requests, 'none of them reached it')
})

t.test('hop-by-hop fields end at the proxy, and its connections are kept (RFC 9110 section 7.6.1)', async (t) => {
  const { app, send, seen } = await buildProxied(t)
  const arrived: string[] = []
  app.server.on('request', ({ headers }) => arrived.push(...Object.keys(headers)))
  for (let i = 0; i < 20; i++) {
    const headers = { connection: 'close, te', te: 'trailers', 'keep-alive': 'timeout=5', upgrade: 'websocket', forwarded: 'for=192.0.2.1' }
    const { status } = await send('/order', { headers })
    t.equal(status, 200)
  }
  t.strictSame(
    ['connection', 'te', 'keep-alive', 'upgrade', 'forwarded'].filter((name) => arrived.includes(name)),
    []
  )
  t.ok(seen.connections <= 8, `${seen.requests} requests came on ${seen.connections} connections`)
})

t.test('a caller is limited by the address that the proxy saw, whatever it claims', async (t) => {
  const { send, sendDirectly } = await buildProxied(t, { settings: { RATE_LIMIT: '3' } })
  const statuses = async (to: typeof send, from: string, headers = {}) => {
    const all: number[] = []
    for (let i = 0; i < 4; i++) all.push((await to('/order', { from, headers: { ...headers, 'x-forwarded-for': `192.0.2.${i}` } })).status)
    return all
  }
  t.strictSame(await statuses(send, '127.0.0.2'), [200, 200, 200, 429])
  t.strictSame(await statuses(send, '127.0.0.3'), [200, 200, 200, 429], 'another caller has a limit of its own')
  t.strictSame(await statuses(sendDirectly, '127.0.0.4'), [200, 200, 200, 429], 'who is not the proxy is not believed')
  t.strictSame(await statuses(sendDirectly, '127.0.0.1'), [200, 200, 200, 200], 'the proxy is')
})

t.test("the cache never sends one caller's own response to another", async (t) => {
  const { send } = await buildProxied(t, { settings: { RATE_LIMIT: '3' } })
  t.match((await send('/product/ABC-1')).headers, { ratelimit: /r=2/, 'x-request-id': /./ })
  t.match((await send('/product/ABC-1')).headers, { 'cache-status': 'nginx; hit', ratelimit: undefined, 'x-request-id': undefined })
  t.match((await send('/order')).headers, { ratelimit: /r=1/, 'x-request-id': /./ })
})

t.test('the catalogue is there while the service is not (RFC 5861 section 4)', async (t) => {
  const { app, send, sendDirectly, store } = await buildProxied(t, { settings: { CACHE_MAX_AGE: '1', CACHE_STALE_WHILE_REVALIDATE: '0' } })
  const before = await send('/product/ABC-1')
  const stale = { status: 200, body: before.body, headers: { 'cache-status': 'nginx; hit; detail=stale' } }
  await store.close()
  t.equal((await sendDirectly('/product/ABC-1')).status, 503)
  t.match(await onceStale(() => send('/product/ABC-1')), stale, 'without its database')
  t.match(await send('/order/none'), { status: 503, headers: { 'retry-after': /\d/ } })
  await app.close()
  t.match(await send('/product/ABC-1'), stale, 'without the service')
  const order = await send('/order', { method: 'POST', headers: xml, body: orderXml() })
  t.match(order, { status: 502, headers: { 'content-type': 'application/problem+xml', 'retry-after': '5', 'cache-control': 'no-store' } })
})
