import t from 'tap'
import { build, orderXml, type Shop, xml } from '../build.ts'

async function placed(shop: Shop): Promise<string> {
  const { headers } = await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml() })
  return String(headers['location'])
}

async function set({ app }: Shop, order: string, status: string, headers: Record<string, string>) {
  const { headers: got } = await app.inject({ url: `${order}/status`, headers })
  const payload = `<order-status><status>${status}</status></order-status>`
  return app.inject({ method: 'PUT', url: `${order}/status`, headers: { ...xml, ...headers, 'if-match': String(got['etag']) }, payload })
}

t.test('an order goes from accepted to shipped to completed, and is then neither changed nor cancelled', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  t.match((await shop.app.inject({ url: order, headers: seller })).body, /rel="ship" href="[^"]*\/status" method="PUT"/)
  const same = await set(shop, order, 'accepted', seller)
  t.match([same.statusCode, same.body], [200, '<status>accepted</status>'], 'the status that it has already changes nothing')
  t.match((await shop.app.inject(order)).body, 'version="1"')
  t.equal((await set(shop, order, 'completed', seller)).statusCode, 409)
  const shipped = await set(shop, order, 'shipped', seller)
  t.match([shipped.statusCode, shipped.body], [200, '<status>shipped</status>'])
  t.match((await shop.app.inject(order)).body, /version="2"[\s\S]*<status>shipped</)
  t.equal((await shop.app.inject({ method: 'DELETE', url: order })).statusCode, 409)
  const read = await shop.app.inject(order)
  const changed = await shop.app.inject({
    method: 'PUT',
    url: order,
    headers: { ...xml, 'if-match': String(read.headers['etag']) },
    payload: orderXml()
  })
  t.match([changed.statusCode, changed.body], [409, 'transition-refused'])
  t.equal((await set(shop, order, 'completed', seller)).statusCode, 200)
})

t.test('with ACCEPTANCE=manual an order waits as received; rejecting gives its stock back', async (t) => {
  const shop = await build(t, { settings: { ACCEPTANCE: 'manual' } })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  t.match((await shop.app.inject(order)).body, '<status>received</status>')
  t.equal((await shop.store.stock('ABC-1')).onHand, '99')
  const rejected = await set(shop, order, 'rejected', seller)
  t.match([rejected.statusCode, rejected.body], [200, '<status>rejected</status>'])
  t.equal((await shop.store.stock('ABC-1')).onHand, '100')
  t.equal((await shop.app.inject({ method: 'DELETE', url: order })).statusCode, 409, 'a rejected order is not cancelled')
  t.equal((await set(shop, await placed(shop), 'accepted', seller)).statusCode, 200)
})

t.test('a status is replaced only with If-Match, and only by the version that was read', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const put = (headers: Record<string, string>) =>
    shop.app.inject({
      method: 'PUT',
      url: `${order}/status`,
      headers: { ...xml, ...seller, ...headers },
      payload: '<order-status><status>shipped</status></order-status>'
    })
  t.equal((await put({})).statusCode, 428)
  t.equal((await put({ 'if-match': '"old"' })).statusCode, 412)
  const { headers } = await shop.app.inject({ url: `${order}/status`, headers: seller })
  const shipped = await put({ 'if-match': String(headers['etag']) })
  t.equal(shipped.statusCode, 200)
  for (const again of [
    { 'if-match': String(headers['etag']) },
    { 'if-match': '*' },
    {},
    { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
  ]) {
    const repeated = await put(again)
    t.match([repeated.statusCode, repeated.headers['etag']], [200, shipped.headers['etag']], `what is so already: ${JSON.stringify(again)}`)
  }
  t.equal((await put({ 'if-match': 'x' })).statusCode, 400)
})

t.test('a cancellation that is repeated is answered as the first was, also with the tag that it was sent with', async (t) => {
  const shop = await build(t)
  const order = await placed(shop)
  const { headers } = await shop.app.inject(order)
  const cancel = (condition: Record<string, string>) => shop.app.inject({ method: 'DELETE', url: order, headers: { ...xml, ...condition } })
  t.equal((await cancel({ 'if-match': '"old"' })).statusCode, 412)
  const first = await cancel({ 'if-match': String(headers['etag']) })
  t.equal(first.statusCode, 200)
  for (const again of [{ 'if-match': String(headers['etag']) }, {}]) {
    const repeated = await cancel(again)
    t.same([repeated.statusCode, repeated.body, repeated.headers['etag']], [200, first.body, first.headers['etag']])
  }
  t.equal((await shop.store.stock('ABC-1')).onHand, '100', 'the stock came back once')
})

t.test('GET, edit, PUT works on the bytes that GET gave, for status and stock, in XML and JSON', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment', 'catalogue', 'order')
  const order = await placed(shop)
  for (const type of ['application/xml', 'application/json']) {
    for (const url of [`${order}/status`, '/product/ABC-1/stock', '/product/ABC-1', order]) {
      const got = await shop.app.inject({ url, headers: { ...seller, accept: type } })
      const put = await shop.app.inject({
        method: 'PUT',
        url,
        headers: { ...seller, accept: type, 'content-type': type, 'if-match': String(got.headers['etag']) },
        payload: got.body
      })
      t.equal(put.statusCode, 200, `${url} ${type} ${put.body}`)
    }
  }
})
