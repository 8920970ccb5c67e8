import t from 'tap'
import { build, orderXml, xml } from '../build.ts'

t.test('a PUT of a part is refused, on every resource, and nothing is replaced (RFC 9110 14.5)', async (t) => {
  const { app, key } = await build(t)
  const seller = await key('Shop', 'catalogue', 'fulfilment', 'order')
  const placed = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...seller }, payload: orderXml() })
  const order = String(placed.headers['location'])
  const resources = {
    '/product/ABC-1': '<product><name>Part</name><price>1</price></product>',
    '/product/ABC-1/stock': '<stock><on-hand>1</on-hand></stock>',
    [order]: orderXml({ 'ABC-1': 2 }),
    [`${order}/status`]: '<order-status><status>shipped</status></order-status>'
  }
  for (const [url, payload] of Object.entries(resources)) {
    const before = await app.inject({ url, headers: seller })
    for (const range of ['bytes 0-9/100', `bytes 0-${payload.length - 1}/${payload.length}`, 'lines 1-2/3', '']) {
      const headers = { ...xml, ...seller, 'if-match': String(before.headers['etag']), 'content-range': range }
      const refused = await app.inject({ method: 'PUT', url, headers, payload })
      t.match([refused.statusCode, refused.body], [400, /malformed-request[\s\S]*Content-Range/], `${url} ${range}`)
    }
    t.equal((await app.inject({ url, headers: seller })).body, before.body, url)
  }
  const created = await app.inject({
    method: 'PUT',
    url: '/product/NEW',
    headers: { ...xml, ...seller, 'content-range': 'bytes 0-9/*' },
    payload: resources['/product/ABC-1']
  })
  t.equal(created.statusCode, 400)
  t.equal((await app.inject('/product/NEW')).statusCode, 404)
})

t.test('Content-Range means nothing in a request of another method (RFC 9110 14.5)', async (t) => {
  const { app } = await build(t)
  const headers = { ...xml, 'content-range': 'bytes 0-9/100' }
  t.equal((await app.inject({ method: 'POST', url: '/order', headers, payload: orderXml() })).statusCode, 201)
  t.equal((await app.inject({ url: '/products', headers: { 'content-range': 'bytes 0-9/100' } })).statusCode, 200)
  t.equal((await app.inject({ method: 'PUT', url: '/products', headers, payload: 'x' })).statusCode, 405)
})
