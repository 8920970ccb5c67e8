import t, { type Test } from 'tap'
import type { ApiDescription, Response } from '../../representations/api-description.ts'
import { build, draft, orderXml, xml } from '../build.ts'
import { type Answer, ask, listening, message } from './wire.ts'

/** A product of its own for each rule, so that no rule depends on another. */
t.test('conditional reads', async (t) => {
  const shop = await build(t, { products: { A: {}, B: {}, C: {}, D: {}, E: {} } })
  const { app, store } = shop
  await listening(app)
  const get = (path: string, headers: Record<string, string | readonly string[]> = {}, method = 'GET'): Promise<Answer> =>
    ask(t, app, message(`${method} ${path}`, headers))
  const tagOf = async (path: string, headers = {}) => (await get(path, headers)).headers['etag'] ?? 'none'
  const change = async (id: string) => store.putProduct(id, draft({ name: `Changed ${Math.random()}` }), {})
  const paths = [
    '/',
    '/products',
    '/product/A',
    '/product/A/stock',
    '/schemas/product.xsd',
    '/problems/not-found',
    '/openapi.json',
    '/docs',
    '/docs/orders'
  ]

  t.test('every resource that has an ETag answers 304 to it, for GET and HEAD (RFC 9110 13.1.2)', async (t) => {
    for (const path of paths) {
      const { headers, status } = await get(path)
      t.match([status, headers['etag']], [200, /^"[^"]+"$/], `${path} has a strong tag`)
      for (const method of ['GET', 'HEAD']) {
        const answer = await get(path, { 'if-none-match': headers['etag'] ?? '' }, method)
        t.match(answer, { status: 304, body: '', headers: { etag: headers['etag'] } }, `${method} ${path}`)
        t.notOk('content-length' in answer.headers, `${method} ${path}: it would have to be that of the 200 (RFC 9110 8.6)`)
      }
    }
  })

  t.test('a 304 has the headers that a 200 would have, and none of content (RFC 9110 15.4.5)', async (t) => {
    const whole = await get('/product/A')
    const unchanged = await get('/product/A', { 'if-none-match': whole.headers['etag'] ?? '' })
    for (const name of ['etag', 'vary', 'cache-control', 'last-modified', 'link'])
      t.equal(unchanged.headers[name], whole.headers[name], name)
    t.match(unchanged.headers['date'], /GMT$/)
    for (const name of ['content-type', 'content-length', 'content-location']) t.notOk(name in unchanged.headers, name)
  })

  t.test('a 304 has the Link of the 200 where it is known without reading the resource, and is described so', async (t) => {
    const placed = await app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml({ A: 1 }) })
    const order = String(placed.headers['location'])
    const description = (await app.inject('/openapi.json')).json<ApiDescription>()
    for (const [path, url, isKnown] of [
      ['/product/{product_id}', '/product/A', true],
      ['/product/{product_id}/stock', '/product/A/stock', true],
      ['/order/{order_id}/status', `${order}/status`, true],
      ['/catalogue', '/catalogue', true],
      ['/', '/', true],
      ['/order/{order_id}', order, false],
      ['/products', '/products', false]
    ] as const) {
      for (const method of ['get', 'head'] as const) {
        const whole = await get(url, {}, method.toUpperCase())
        t.match(whole.headers['link'], 'rel="describedby"', url)
        const unchanged = await get(url, { 'if-none-match': whole.headers['etag'] ?? '' }, method.toUpperCase())
        t.equal(unchanged.status, 304)
        t.equal(unchanged.headers['link'], isKnown ? whole.headers['link'] : undefined, `${method} ${url}`)
        const described = description.paths[path]?.[method]?.responses[304] as Response | undefined
        t.equal(described?.headers?.['Link'] !== undefined, isKnown, `${method} ${path}`)
      }
    }
  })

  t.test('a page’s 304 has no Link, as a cache would put it in place of the one with the next page (RFC 9111 3.2)', async (t) => {
    const whole = await get('/products?limit=1')
    t.match(whole.headers['link'], 'rel="next"')
    const unchanged = await get('/products?limit=1', { 'if-none-match': whole.headers['etag'] ?? '' })
    t.equal(unchanged.status, 304)
    t.notOk('link' in unchanged.headers)
    for (const name of ['etag', 'vary', 'cache-control', 'last-modified']) t.equal(unchanged.headers[name], whole.headers[name], name)
  })

  t.test('a changed product answers 200 to its old ETag, and to its page’s (RFC 9110 13.1.2)', async (t) => {
    const old = await tagOf('/product/B')
    const oldPage = await tagOf('/products')
    await change('B')
    const answer = await get('/product/B', { 'if-none-match': old })
    t.match(answer, { status: 200, body: /Changed/ })
    t.not(answer.headers['etag'], old)
    t.equal((await get('/products', { 'if-none-match': oldPage })).status, 200)
  })

  t.test('a tag belongs to one resource: at another product’s URI it answers 200 (RFC 9110 8.8.3)', async (t) => {
    const tags = await Promise.all(['A', 'C', 'D', 'E'].map((id) => tagOf(`/product/${id}`)))
    t.equal(new Set(tags).size, tags.length, 'also of products that were made at once, and are alike')
    t.equal((await get('/product/C', { 'if-none-match': tags[0] ?? '' })).status, 200)
    t.equal((await get('/product/A/stock', { 'if-none-match': tags[0] ?? '' })).status, 200)
    t.equal((await get('/products?limit=1', { 'if-none-match': await tagOf('/products?limit=2') })).status, 200, 'nor do pages share one')
  })

  t.test('a tag belongs to one representation: XML’s does not validate JSON (RFC 9110 8.8.3.3)', async (t) => {
    const accepts = ['application/xml', 'text/xml', 'text/html', 'application/json']
    const tags = await Promise.all(accepts.map((accept) => tagOf('/product/A', { accept })))
    t.equal(new Set(tags).size, accepts.length)
    for (const [i, accept] of accepts.entries()) {
      for (const [j, tag] of tags.entries()) {
        t.equal(
          (await get('/product/A', { accept, 'if-none-match': tag })).status,
          i === j ? 304 : 200,
          `${accepts[j]}'s tag for ${accept}`
        )
      }
    }
  })

  t.test('If-None-Match: lists, *, weak comparison, several lines (RFC 9110 13.1.2, 5.3)', async (t) => {
    const tag = await tagOf('/product/A')
    for (const held of [`"x", ${tag}`, `${tag}, "x"`, `"x",${tag},"y"`, `W/${tag}`, `W/"x", W/${tag}`, '*', `, ,${tag},`]) {
      t.equal((await get('/product/A', { 'if-none-match': held })).status, 304, held)
    }
    t.equal((await get('/product/A', { 'if-none-match': ['"x"', tag] })).status, 304, 'two lines')
    t.equal((await get('/product/A', { 'if-none-match': ['"x"', '"y"'] })).status, 200, 'two lines, neither of it')
    for (const other of ['"x"', `"${tag}"`, tag.replaceAll('"', ''), `${tag}x`, '', `"x" ${tag}`, `*, ${tag}`]) {
      t.equal((await get('/product/A', { 'if-none-match': other })).status, 200, other)
    }
  })

  t.test('If-Modified-Since: all three forms of a date, at or after the last change (RFC 9110 13.1.3)', async (t) => {
    const { headers } = await get('/product/A')
    const modified = Date.parse(headers['last-modified'] ?? '')
    const forms = (at: number) => {
      const [, day = '', date = '', month = '', year = '', time = ''] =
        /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(new Date(at).toUTCString()) ?? []
      const long = { Mon: 'Monday', Tue: 'Tuesday', Wed: 'Wednesday', Thu: 'Thursday', Fri: 'Friday', Sat: 'Saturday', Sun: 'Sunday' }[day]
      return [
        `${day}, ${date} ${month} ${year} ${time} GMT`,
        `${long}, ${date}-${month}-${year.slice(2)} ${time} GMT`,
        `${day} ${month} ${date.replace(/^0/, ' ')} ${time} ${year}`
      ]
    }
    for (const date of [...forms(modified), ...forms(modified + 1000)])
      t.equal((await get('/product/A', { 'if-modified-since': date })).status, 304, date)
    for (const date of forms(modified - 1000)) t.equal((await get('/product/A', { 'if-modified-since': date })).status, 200, date)
    for (const invalid of ['', '0', 'yesterday', new Date(modified + 5000).toISOString(), `${headers['last-modified']}x`]) {
      t.equal((await get('/product/A', { 'if-modified-since': invalid })).status, 200, `ignored: ${invalid}`)
    }
  })

  t.test('If-Modified-Since is ignored beside If-None-Match, also beside one that is malformed (RFC 9110 13.1.3)', async (t) => {
    const date = (await get('/product/A')).headers['last-modified'] ?? ''
    for (const tag of ['"x"', 'malformed', '']) {
      t.equal((await get('/product/A', { 'if-none-match': tag, 'if-modified-since': date })).status, 200, tag)
    }
  })

  t.test('If-Match and If-Unmodified-Since guard reads too: 412, before If-None-Match is looked at (RFC 9110 13.2.2)', async (t) => {
    const { headers } = await get('/product/A')
    const tag = headers['etag'] ?? ''
    const before = new Date(Date.parse(headers['last-modified'] ?? '') - 1000).toUTCString()
    const rows: readonly [Record<string, string>, number][] = [
      [{ 'if-match': tag }, 200],
      [{ 'if-match': `"x", ${tag}` }, 200],
      [{ 'if-match': '*' }, 200],
      [{ 'if-match': '"x"' }, 412],
      [{ 'if-match': `W/${tag}` }, 412],
      [{ 'if-match': '' }, 400],
      [{ 'if-match': 'x' }, 400],
      [{ 'if-match': '"x"', 'if-none-match': tag }, 412],
      [{ 'if-match': tag, 'if-none-match': tag }, 304],
      [{ 'if-unmodified-since': before }, 412],
      [{ 'if-unmodified-since': headers['last-modified'] ?? '' }, 200],
      [{ 'if-unmodified-since': 'never' }, 200],
      [{ 'if-match': tag, 'if-unmodified-since': before }, 200],
      [{ 'if-unmodified-since': before, 'if-none-match': tag }, 412]
    ]
    for (const [conditions, status] of rows) {
      for (const method of ['GET', 'HEAD'])
        t.equal((await get('/product/A', conditions, method)).status, status, `${method} ${JSON.stringify(conditions)}`)
    }
  })

  t.test('conditions are evaluated only where the answer would be a success (RFC 9110 13.2.1)', async (t) => {
    const conditions = { 'if-none-match': '*', 'if-match': '"x"' }
    t.equal((await get('/product/NOPE', conditions)).status, 404)
    t.equal((await get('/nothing', conditions)).status, 404)
    t.equal((await get('/product/A', { ...conditions, accept: 'image/png' })).status, 406)
    t.equal((await get('/products?nope=1', conditions)).status, 400)
    t.equal((await get('/orders', conditions)).status, 401)
    t.equal((await get('/product/A', conditions, 'PATCH')).status, 405)
    t.equal((await get('/product/A', conditions, 'OPTIONS')).status, 204, 'OPTIONS selects no representation')
  })

  t.test('a resource without a tag exists for If-Match and If-None-Match (RFC 9110 13.1.1, 13.1.2)', async (t) => {
    const headers = await shop.key('Acme', 'order')
    for (const path of ['/orders', '/order', '/session']) {
      const accept = { ...headers, ...(path === '/session' ? { accept: 'text/html' } : {}) }
      t.equal((await get(path, { ...accept, 'if-match': '"x"' })).status, 412, path)
      t.equal((await get(path, { ...accept, 'if-match': '*' })).status, 200, path)
      t.equal((await get(path, { ...accept, 'if-none-match': '"x"' })).status, 200, path)
      t.equal((await get(path, { ...accept, 'if-none-match': '*' })).status, 304, path)
    }
  })

  t.test('a range is not offered: Range and If-Range change nothing (RFC 9110 14.2)', async (t) => {
    const whole = await get('/product/A')
    for (const headers of [
      { range: 'bytes=0-9' },
      { range: 'bytes=0-9', 'if-range': whole.headers['etag'] ?? '' },
      { range: 'bytes=9999999-' }
    ]) {
      const answer = await get('/product/A', headers)
      t.same([answer.status, answer.body, answer.headers['content-range']], [200, whole.body, undefined])
    }
  })

  t.test('a POST with If-None-Match is never a 304; a condition of it that does not hold is 412 (RFC 9110 13.1.2)', async (t) => {
    await orderPosted(t, { 'if-none-match': await tagOf('/product/A') }, 201)
    await orderPosted(t, { 'if-none-match': '"x"' }, 201)
    await orderPosted(t, { 'if-none-match': '*' }, 412)
    await orderPosted(t, { 'if-match': '"x"' }, 412)
    await orderPosted(t, { 'if-match': '*' }, 201)
  })

  async function orderPosted(t: Test, conditions: Record<string, string>, status: number) {
    const before = (await store.orders({ limit: 1000 })).items.length
    const answer = await ask(t, app, message('POST /order', { 'content-type': 'application/xml', ...conditions }, orderXml({ A: 1 })))
    t.equal(answer.status, status, JSON.stringify(conditions))
    t.equal((await store.orders({ limit: 1000 })).items.length - before, status === 201 ? 1 : 0)
  }
})
