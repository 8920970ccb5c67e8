import t from 'tap'
import { build, orderXml } from '../build.ts'
import { type Answer, ask, listening, message } from './wire.ts'

t.test('a query of more than 1,000 parameters is refused before they are parsed', async (t) => {
  const { app } = await build(t, { settings: { MAX_URL_LENGTH: '100000' } })
  await listening(app)
  const get = (count: number) => ask(t, app, message(`GET /products?${Array.from({ length: count }, (_, i) => `p${i}=`).join('&')}`))
  t.match(await get(1_001), { status: 400, body: /The query has more than 1000 parameters/ })
  const { status, body } = await get(1_000)
  t.equal(status, 400)
  t.notMatch(body, /more than 1000/, 'as many are read, and refused one by one')
})

t.test('request targets', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': {}, 'a~b': {} } })
  await listening(app)
  const get = (target: string) => ask(t, app, message(`GET ${target}`))

  t.test('an absolute-form target is the same resource, whatever authority it names (RFC 9112 3.2.2)', async (t) => {
    const expected = await get('/products')
    for (const origin of ['http://shop.example', 'http://other.example:81', 'https://shop.example', 'HTTP://SHOP.EXAMPLE']) {
      const answer = await get(`${origin}/products`)
      t.same(
        [answer.status, answer.headers['etag'], answer.headers['link'], answer.body],
        [200, expected.headers['etag'], expected.headers['link'], expected.body],
        origin
      )
    }
    t.equal((await get('http://shop.example')).body, (await get('/')).body, 'an empty path is /')
    t.equal((await get('http:///products')).status, 400, 'a host that is empty is none (RFC 9110 4.2.1)')
  })

  t.test('percent-encoded unreserved characters name the same resource (RFC 3986 6.2.2.2)', async (t) => {
    const expected = await get('/product/ABC-1')
    for (const target of ['/product/%41BC-1', '/product/%41%42%43%2D%31', '/%70roduct/ABC%2d1']) {
      const answer = await get(target)
      t.same(
        [answer.status, answer.headers['etag'], answer.headers['link'], answer.body],
        [200, expected.headers['etag'], expected.headers['link'], expected.body],
        target
      )
    }
    t.equal((await get('/product/a%7Eb')).status, 200)
  })

  t.test('a URI that names nothing is 404: trailing and double slashes, other case, an encoded slash, dot segments', async (t) => {
    for (const target of [
      '/products/',
      '//products',
      '/product//ABC-1',
      '/product/',
      '/product',
      '/Products',
      '/product/abc-1',
      '/product/ABC-1/',
      '/product/ABC%2F1',
      '/product/.',
      '/product/..',
      '/product/%2e%2e',
      '/products/../products',
      '/product/%01',
      '/product/ABC-1%20',
      `/product/${'A'.repeat(300)}`
    ]) {
      const answer = await get(target)
      t.match(
        answer,
        { status: 404, headers: { 'content-type': 'application/problem+xml', 'cache-control': 'no-store', vary: 'Accept' } },
        target
      )
      t.notOk(answer.body.includes('\x01'), 'a problem is XML, whatever was asked for')
    }
  })

  t.test('an invalid target is 400: a fragment, a broken percent-encoding, a NUL, no path (RFC 9112 3.2)', async (t) => {
    for (const target of [
      '/products#top',
      '/product/%zz',
      '/product/%',
      '/products?q=%ff',
      '/product/%00',
      'products',
      'ftp://shop.example/',
      '/product/\xe9',
      '*'
    ]) {
      const answer = await get(target)
      t.match(answer, { status: 400, headers: { 'content-type': 'application/problem+xml', 'cache-control': 'no-store' } }, target)
      t.match(answer.body, /<type>\/problems\/malformed-request<\/type>/)
    }
  })

  t.test('characters that a URI cannot hold are percent-encoded in the links of the answer (RFC 8288 3.1)', async (t) => {
    const answer = await get('/products?q=<a>"b"')
    t.equal(answer.status, 200)
    t.notMatch(answer.headers['link'], /<a>/)
    t.match(answer.headers['link'], '</products?q=%3Ca%3E%22b%22>; rel="alternate"')
  })

  t.test('a target of more than MAX_URL_LENGTH is 414, also when it is longer than all headers may be (RFC 9110 15.5.15)', async (t) => {
    const of = (length: number) => `/products?q=${'a'.repeat(length - 12)}`
    t.equal((await get(of(4096))).status, 400, 'as long as it may be: only the parameter is too long')
    for (const length of [4097, 15_000, 20_000, 60_000]) {
      const answer: Answer = await get(of(length))
      t.match(answer, { status: 414, headers: { 'content-type': 'application/problem+xml' } }, `${length} bytes`)
      t.ok(answer.body.length < 1000, 'and is not sent back')
    }
  })

  t.test('parameters that a route does not know: refused where it has some, ignored elsewhere', async (t) => {
    const refused = await get('/order?prodct=ABC-1')
    t.equal(refused.status, 400)
    t.match(refused.body, /<i>product<\/i>/)
    t.match((await get('/order?product=ABC-1&product=a~b')).body, /<product-id>ABC-1<\/product-id>[\s\S]*<product-id>a~b<\/product-id>/)
    t.match((await get('/order?product=ABC-1')).body, '<product-id>ABC-1</product-id>')
    t.equal((await get('/product/ABC-1?utm_source=x')).status, 200)
    t.equal((await ask(t, app, message('POST /order?x=1', { 'content-type': 'application/xml' }, orderXml()))).status, 201)
  })
})
