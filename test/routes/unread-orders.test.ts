import t from 'tap'
import { build, orderXml, xml } from '../build.ts'
import { products, send, ublOrder } from './buyer-fixtures.ts'
import { place } from './feed.ts'
import { get, type Headers, html, setUp } from './shipped-order.ts'

t.test('conditions of reads of an order and its status are evaluated without reading its lines (RFC 9110 13.2.2)', async (t) => {
  const { shop, key } = await setUp(t)
  const { headers } = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...key }, payload: orderXml() })
  const order = String(headers['location'])
  const urls = [order, `${order}?page=2`, `${order}/status`]
  const { order: readWhole } = shop.store
  for (const url of urls) {
    for (const accept of ['application/xml', 'text/xml', 'text/html', 'application/json']) {
      const ask = (more: Headers, method: 'GET' | 'HEAD' = 'GET') =>
        shop.app.inject({ method, url, headers: { ...key, accept, ...more }, remoteAddress: '192.0.2.1' })
      const shown = await ask({})
      const [tag, modified] = [String(shown.headers['etag']), String(shown.headers['last-modified'])]
      shop.store.order = () => Promise.reject(new Error('the order was read whole'))
      for (const condition of [{ 'if-none-match': tag }, { 'if-none-match': '*' }, { 'if-modified-since': modified }]) {
        for (const method of ['GET', 'HEAD'] as const) {
          const unchanged = await ask(condition, method)
          t.equal(unchanged.statusCode, 304, `${method} ${url} as ${accept}`)
          for (const name of ['etag', 'last-modified', 'cache-control', 'vary']) t.equal(unchanged.headers[name], shown.headers[name], name)
        }
      }
      t.equal((await ask({ 'if-match': '"other"' })).statusCode, 412)
      const others = await get(shop, url, '192.0.2.1', { accept, 'if-match': '"other"' })
      t.equal(others.statusCode, 404, 'others are not told that there is such an order')
      shop.store.order = readWhole
      const other = await ask({ 'if-none-match': '"other"' })
      t.same([other.statusCode, other.headers['etag'], other.body], [200, tag, shown.body])
      t.equal((await ask({ 'if-match': tag })).statusCode, 200)
    }
  }
})

t.test('a status that is refused by its conditions is refused without reading the order', async (t) => {
  const { shop, key } = await setUp(t)
  const order = await place(shop)
  shop.store.order = () => Promise.reject(new Error('the order was read whole'))
  const put = (conditions: Headers) =>
    shop.app.inject({
      method: 'PUT',
      url: `${order}/status`,
      headers: { ...xml, ...key, ...conditions },
      payload: '<order-status><status>shipped</status></order-status>'
    })
  t.equal((await put({})).statusCode, 428)
  t.equal((await put({ 'if-match': '"other"' })).statusCode, 412)
  t.equal((await put({ 'if-match': '*', 'if-none-match': '*' })).statusCode, 412)
})

t.test(
  'conditions of reads of a document and its answer are evaluated without reading the document or the order (RFC 9110 13.2.2)',
  async (t) => {
    const shop = await build(t, { products })
    const key = await shop.key('Acme', 'order')
    const placed = await send(shop, ublOrder(), key)
    const [order, { order: readOrder, wholeDocumentOf }] = [String(placed.headers['location']), { ...shop.store }]
    for (const part of ['document', 'response']) {
      const ask = (headers: Headers) => get(shop, `${order}/${part}`, '192.0.2.1', headers)
      const shown = await ask(key)
      const tag = String(shown.headers['etag'])
      const isWhole = () => Promise.reject(new Error('it was read whole'))
      Object.assign(shop.store, { order: isWhole, wholeDocumentOf: isWhole })
      for (const known of [tag, '*']) {
        const unchanged = await ask({ ...key, 'if-none-match': known })
        t.equal(unchanged.statusCode, 304, `${part}, ${known}`)
        for (const name of ['etag', 'cache-control']) t.equal(unchanged.headers[name], shown.headers[name], name)
      }
      t.equal((await ask({ ...key, 'if-match': '"other"' })).statusCode, 412)
      t.equal((await ask({ 'if-match': '"other"' })).statusCode, 404, 'others are not told that there is such an order')
      Object.assign(shop.store, { order: readOrder, wholeDocumentOf })
      const other = await ask({ ...key, 'if-none-match': '"other"' })
      t.same([other.statusCode, other.headers['etag']], [200, tag])
    }
  }
)

t.test('shipments and documents of an order are shown without reading its lines', async (t) => {
  const { shop, order, key } = await setUp(t)
  shop.store.order = () => Promise.reject(new Error('the order was read whole'))
  for (const [path, headers, status] of [
    ['/shipments', {}, 200],
    ['/shipments', html, 200],
    ['/shipments', key, 200],
    ['/shipment/1', {}, 200],
    ['/document', {}, 404]
  ] as const) {
    t.equal((await get(shop, `${order}${path}`, '192.0.2.1', headers)).statusCode, status, path)
  }
  const own = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...key }, payload: orderXml() })
  t.equal((await get(shop, `${own.headers['location']}/shipments`, '192.0.2.1')).statusCode, 404, 'and still not to others')
})
