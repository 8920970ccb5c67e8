import t from 'tap'
import { build, orderXml } from '../build.ts'
import { ask, listening, message } from './wire.ts'

t.test('under a base path', async (t) => {
  const { app, key } = await build(t, { settings: { BASE_URL: 'https://shop.example/shop' }, products: { 'ABC-1': {}, 'ABC-2': {} } })
  await listening(app)
  const get = (path: string, headers: Record<string, string> = {}) => ask(t, app, message(`GET ${path}`, headers))

  t.test('everything lives there, and nothing beside it but health', async (t) => {
    for (const path of [
      '/shop/',
      '/shop/products',
      '/shop/product/ABC-1',
      '/shop/order',
      '/shop/schemas/product.xsd',
      '/shop/problems/not-found',
      '/shop/openapi.json',
      '/shop/docs',
      '/shop/docs/orders',
      '/health/live',
      '/health/ready'
    ]) {
      t.equal((await get(path)).status, 200, path)
    }
    for (const path of ['/', '/products', '/product/ABC-1', '/shop/products/', '/shopping', '/shop/shop/', '/shop/health/live', '/Shop/']) {
      t.equal((await get(path)).status, 404, path)
    }
  })

  t.test('a request beside it is told where the shop begins', async (t) => {
    const begins = 'There is no page at this address. The shop begins at /shop/.'
    for (const path of ['/', '/products', '/shopping', '/Shop/']) t.match((await get(path)).body, `<detail>${begins}</detail>`, path)
    t.match((await get('/products', { accept: 'text/html' })).body, `<a href="/shop/">Go to the home page</a>`)
    t.notMatch((await get('/shop/nothing')).body, 'begins')
  })

  t.test('the base path without its slash is sent on to the root, for good (RFC 9110 15.4.9)', async (t) => {
    t.match(await get('/shop'), { status: 308, headers: { location: '/shop/' } })
    t.match(await get('/shop?x=1'), { status: 308, headers: { location: '/shop/?x=1' } })
    t.equal((await ask(t, app, message('HEAD /shop'))).status, 308)
    t.match(await ask(t, app, message('POST /shop')), { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
    t.match(await ask(t, app, message('POST /shop/')), { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
    t.equal((await ask(t, app, message('OPTIONS /shop/'))).status, 204)
  })

  t.test('every link, in bodies and headers, stays under it', async (t) => {
    const seller = await key('Shop', 'catalogue', 'fulfilment', 'order')
    const placed = await ask(t, app, message('POST /shop/order', { 'content-type': 'application/xml' }, orderXml()))
    const order = placed.headers['location'] ?? ''
    t.match(order, /^\/shop\/order\//)
    t.equal(placed.headers['content-location'], order)
    const paths = [
      '/shop/',
      '/shop/products?limit=1',
      '/shop/product/ABC-1',
      '/shop/product/ABC-1/stock',
      order,
      `${order}/status`,
      '/shop/orders',
      '/shop/order',
      '/shop/nothing',
      '/shop/docs',
      '/shop/docs/orders'
    ]
    for (const path of paths) {
      for (const accept of ['application/xml', 'text/html', 'application/json']) {
        const { body, headers } = await get(path, { ...seller, accept })
        const hrefs = [...body.matchAll(/(?:href|src|action)(?:="|": ")(\/[^"]*)"/g), ...(headers['link'] ?? '').matchAll(/<(\/[^>]*)>/g)]
        for (const [, href = ''] of hrefs) t.match(href, /^\/shop\//, `${path} as ${accept}: ${href}`)
      }
    }
    const problem = await get('/shop/nothing', { accept: 'application/json' })
    t.match(JSON.parse(problem.body), { type: '/shop/problems/not-found', instance: '/shop/nothing' })
    t.match((await ask(t, app, 'GET /shop/products HTTP/1.1\r\n\r\n')).body, '<type>/shop/problems/malformed-request</type>')
    t.match((await ask(t, app, 'FOO /shop/products HTTP/1.1\r\nHost: a\r\n\r\n')).body, '<type>/shop/problems/not-implemented</type>')
  })

  t.test('links follow to what they name', async (t) => {
    const seen = new Set<string>()
    const queue = ['/shop/']
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      if (seen.has(path) || seen.size > 60) continue
      seen.add(path)
      const { status, body } = await get(path)
      t.ok(status === 200 || (status === 401 && ['/shop/orders', '/shop/events', '/shop/webhooks'].includes(path)), `${path} is ${status}`)
      queue.push(...[...body.matchAll(/<(?:link|product-id)[^>]* href="(\/[^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&')))
    }
    t.ok(seen.has('/shop/product/ABC-2/stock'), 'as far as a stock')
  })
})
