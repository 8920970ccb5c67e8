import fastifyCaching from '@fastify/caching'
import Fastify from 'fastify'
import t from 'tap'
import { build, draft, orderXml } from '../build.ts'
import { type Answer, ask, listening, message } from './wire.ts'

const catalogue = 'public, max-age=10, stale-while-revalidate=30, stale-if-error=86400'

t.test('caching headers', async (t) => {
  const { app, key, store } = await build(t)
  await listening(app)
  const seller = await key('Shop', 'catalogue', 'fulfilment', 'order')
  const get = (path: string, headers: Record<string, string> = {}) => ask(t, app, message(`GET ${path}`, headers))
  const placed = await ask(t, app, message('POST /order', { 'content-type': 'application/xml' }, orderXml()))
  const order = placed.headers['location'] ?? ''

  t.test('public resources may be cached by everybody for a while, then revalidated (RFC 9111 5.2.2, RFC 5861)', async (t) => {
    for (const path of [
      '/',
      '/products',
      '/products?limit=1',
      '/product/ABC-1',
      '/problems/not-found',
      '/schemas/product.xsd',
      '/openapi.json',
      '/docs',
      '/docs/orders'
    ]) {
      const { headers, status } = await get(path)
      t.match([status, headers['cache-control'], headers['etag']], [200, catalogue, /^"/], path)
    }
  })

  t.test('orders and stock are kept by their reader only, and never used unasked (RFC 9111 5.2.2.4, 5.2.2.7)', async (t) => {
    for (const path of [order, `${order}/status`, '/orders', '/product/ABC-1/stock']) {
      const { headers, status } = await get(path, path === '/orders' ? seller : {})
      t.match([status, headers['cache-control']], [200, 'private, no-cache'], path)
    }
    t.equal((await get('/order')).headers['cache-control'], 'no-store', 'a form is made for one use')
  })

  t.test('health is never kept', async (t) => {
    for (const path of ['/health/live', '/health/ready'])
      t.match(await get(path), { status: 200, headers: { 'cache-control': 'no-store' } }, path)
  })

  t.test('errors are never kept, and have no validators (RFC 9111 4)', async (t) => {
    const xml = { 'content-type': 'application/xml' }
    const answers: readonly [number, Answer][] = [
      [400, await get('/products?limit=0')],
      [401, await get('/orders')],
      [404, await get('/product/NOPE')],
      [404, await get('/nothing')],
      [405, await ask(t, app, message('PATCH /products'))],
      [406, await get('/products', { accept: 'image/png' })],
      [412, await get('/product/ABC-1', { 'if-match': '"x"' })],
      [415, await ask(t, app, message('POST /order', { 'content-type': 'image/png' }, 'x'))],
      [422, await ask(t, app, message('POST /order', xml, '<purchase-order/>'))],
      [428, await ask(t, app, message('PUT /product/ABC-1', { ...xml, ...seller }, '<product><name>x</name><price>1</price></product>'))]
    ]
    for (const [status, answer] of answers) {
      t.match(answer, { status, headers: { 'cache-control': 'no-store', vary: /Accept/ } }, String(status))
      for (const name of ['etag', 'last-modified', 'expires', 'age']) t.notOk(name in answer.headers, name)
    }
  })

  t.test('the answer to a write is only for its sender (RFC 9111 4)', async (t) => {
    t.equal(placed.headers['cache-control'], 'no-store')
    const created = await ask(
      t,
      app,
      message(
        'POST /products',
        { 'content-type': 'application/xml', ...seller },
        '<product id="N"><name>x</name><price>1</price></product>'
      )
    )
    t.match(created, { status: 201, headers: { 'cache-control': 'no-store', 'content-location': '/product/N' } })
  })

  t.test('everything negotiated varies by Accept, in every answer of it (RFC 9110 12.5.5)', async (t) => {
    const { headers } = await get('/product/ABC-1')
    for (const answer of [
      await get('/product/ABC-1'),
      await get('/product/ABC-1', { accept: 'text/html' }),
      await get('/product/ABC-1', { 'if-none-match': headers['etag'] ?? '' }),
      await get('/product/ABC-1', { accept: 'image/png' }),
      await get('/product/NOPE'),
      await get('/nothing'),
      await get('/orders')
    ]) {
      t.match(answer.headers['vary'], /^Accept\b/, String(answer.status))
    }
    t.notOk('vary' in (await get('/schemas/product.xsd')).headers, 'a schema is not negotiated')
    t.equal((await get(order)).headers['vary'], 'Accept', 'what a machine gets does not vary by cookies')
  })

  t.test('selling changes no product’s representation until its availability flips', async (t) => {
    const tag = async () => (await get('/product/ABC-1')).headers['etag']
    const [before, page] = [await tag(), (await get('/products')).headers['etag']]
    const sell = (quantity: number) =>
      ask(t, app, message('POST /order', { 'content-type': 'application/xml' }, orderXml({ 'ABC-1': quantity })))
    t.equal((await sell(1)).status, 201)
    t.equal(await tag(), before)
    t.equal((await get('/products')).headers['etag'], page)
    t.equal((await sell(Number((await store.stock('ABC-1')).onHand))).status, 201)
    t.not(await tag(), before)
    t.match((await get('/product/ABC-1')).body, '<availability>out-of-stock</availability>')
  })
})

t.test('Last-Modified is never later than Date, also where the clock was put back (RFC 9110 8.8.2.1)', async (t) => {
  const { app, store } = await build(t)
  await listening(app)
  const { product } = store
  store.product = async (id) => ({ ...(await product(id)), modifiedAt: Date.now() + 3_600_000 })
  const { headers } = await ask(t, app, message('GET /product/ABC-1'))
  t.ok(Date.parse(headers['last-modified'] ?? '') <= Date.parse(headers['date'] ?? ''), `${headers['last-modified']} ${headers['date']}`)
})

t.test('the lifetimes are settings', async (t) => {
  const settings = { CACHE_MAX_AGE: '0', CACHE_STALE_WHILE_REVALIDATE: '1', CACHE_STALE_IF_ERROR: '2' }
  const { app } = await build(t, { settings })
  t.equal((await app.inject('/products')).headers['cache-control'], 'public, max-age=0, stale-while-revalidate=1, stale-if-error=2')
})

/** The answers to three requests with an old tag: for the changed product, for another URI, and for a POST. */
async function statuses(
  send: (method: 'GET' | 'POST', path: string, tag?: string) => Promise<{ statusCode: number; headers: Record<string, unknown> }>,
  change: () => unknown
) {
  const tag = String((await send('GET', '/product/A')).headers['etag'])
  await change()
  const old = await send('GET', '/product/A', tag)
  const other = await send('GET', '/product/B', tag)
  const post = await send('POST', '/order', tag)
  return { old: old.statusCode, other: other.statusCode, post: post.statusCode, policy: old.headers['cache-control'] }
}

t.test("@fastify/caching's own look-up would answer 304 to any URI and method that shows a tag that it has seen", async (t) => {
  const trusting = Fastify()
  t.teardown(() => trusting.close())
  await trusting.register(fastifyCaching, { privacy: fastifyCaching.privacy.NOCACHE })
  let version = 1
  trusting.get('/product/:id', async (request, reply) =>
    reply.etag(`"${version}-${(request.params as { id: string }).id}"`).send('a product')
  )
  trusting.post('/order', async (_request, reply) => reply.code(201).send('an order'))
  const theirs = await statuses(
    (method, url, tag) => trusting.inject({ method, url, headers: tag === undefined ? {} : { 'if-none-match': tag } }),
    () => version++
  )
  t.same(theirs, { old: 304, other: 304, post: 304, policy: 'no-store' }, 'what is wrong with it')

  const { app, store } = await build(t, { products: { A: {}, B: {} } })
  const ours = await statuses(
    (method, url, tag) =>
      app.inject({
        method,
        url,
        headers: {
          ...(tag === undefined ? {} : { 'if-none-match': tag }),
          ...(method === 'POST' ? { 'content-type': 'application/xml' } : {})
        },
        ...(method === 'POST' ? { payload: orderXml({ A: 1 }) } : {})
      }),
    () => store.putProduct('A', draft({ name: 'Changed' }), {})
  )
  t.same(ours, { old: 200, other: 200, post: 201, policy: catalogue }, 'RFC 9110 13.1.2')
})
