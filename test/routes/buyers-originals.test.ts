import t from 'tap'
import { build } from '../build.ts'
import {
  cxmlLine,
  cxmlOrder,
  onHand,
  orderCount,
  products,
  read,
  secretOf,
  send,
  ublAnswer,
  ublCancellation,
  ublChange,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'

t.test('the document of an order has the sent bytes and media type, for those who may see the order', async (t) => {
  const shop = await build(t, { products })
  const [key, other, seller] = [await shop.key('acme', 'order'), await shop.key('other', 'order'), await shop.key('ERP', 'fulfilment')]
  const sent = Buffer.from(`\ufeff${ublOrder({ header: '<cbc:Note>Größe, \u{1f600}\r\n</cbc:Note><!-- é -->' })}`)
  const types = ['application/xml', 'text/xml', 'application/vnd.oasis.ubl+xml', 'application/ubl+xml', 'text/xml; charset=us-ascii']
  for (const [i, contentType] of types.entries()) {
    const payload = contentType.includes('us-ascii')
      ? Buffer.from(ublOrder({ number: 'PO-ascii' }))
      : Buffer.from(sent.toString().replace('PO-7', `PO-${i}`))
    const placed = await send(shop, payload, { ...key, 'content-type': contentType })
    t.equal(placed.statusCode, 201, `${contentType}: ${placed.body}`)
    const mediaType = contentType.split(';')[0]
    t.equal(placed.headers['content-type'], `${mediaType}; charset=utf-8`)
    const url = String(placed.headers['location'])
    const read = (headers: Record<string, string>, part = 'document') => shop.app.inject({ url: `${url}/${part}`, headers })
    const document = await read({ ...key, accept: 'text/html, */*;q=0.1' })
    t.equal(document.statusCode, 200)
    t.equal(document.headers['content-type'], mediaType)
    t.ok(document.rawPayload.equals(payload), contentType)
    t.match(document.headers['content-disposition'], 'attachment')
    t.match(document.headers['cache-control'], 'private')
    t.equal((await read(seller)).statusCode, 200, 'the seller')
    for (const part of ['document', 'response']) {
      t.equal((await read(other, part)).statusCode, 404, `another customer, ${part}`)
      t.equal((await read({}, part)).statusCode, 404, `a guest, ${part}`)
    }
    const { body, headers } = await shop.app.inject({ url, headers: key })
    const links = `<${url}/document>; rel="original", <${url}/response>; rel="response"`
    t.match(headers['link'], links)
    t.match(placed.headers['link'], links)
    t.match((await send(shop, payload, { ...key, accept: 'application/json' })).headers['link'], links, 'our own order')
    t.match((await shop.app.inject({ method: 'HEAD', url, headers: { ...key, accept: 'text/html' } })).headers['link'], links)
    t.match(body, `<link rel="original" href="${url}/document"`)
    t.match(body, `<link rel="response" href="${url}/response"`)
  }
})

t.test('an order in the own vocabulary has neither document nor response', async (t) => {
  const shop = await build(t, { products })
  const placed = await send(shop, '<purchase-order><item><product-id>BOLT-8</product-id><quantity>1</quantity></item></purchase-order>')
  const url = String(placed.headers['location'])
  for (const part of ['document', 'response']) t.equal((await shop.app.inject(`${url}/${part}`)).statusCode, 404)
  t.notMatch(placed.body, 'rel="original"')
  t.notMatch((await shop.app.inject(url)).headers['link'], 'original')
})

t.test('the response of a UBL order follows its status', async (t) => {
  const shop = await build(t, { products, settings: { ACCEPTANCE: 'manual' } })
  const key = await shop.key('acme', 'order')
  const placed = await send(shop, ublOrder(), { ...key, 'content-type': 'application/vnd.oasis.ubl+xml' })
  const url = String(placed.headers['location'])
  const id = url.slice('/order/'.length)
  const response = () => shop.app.inject({ url: `${url}/response`, headers: key })
  const seen = []
  for (const status of ['received', 'accepted', 'shipped', 'completed'] as const) {
    await shop.store.setOrderStatus(id, status, {})
    seen.push(ublAnswer(await response()).code)
  }
  t.same(seen, ['AB', 'AP', 'AP', 'AP'])
  t.equal((await response()).headers['content-type'], 'application/vnd.oasis.ubl+xml; charset=utf-8')
  const second = await send(shop, ublOrder({ number: 'PO-8' }), key)
  await send(shop, ublCancellation('PO-8'), key)
  const cancelled = await shop.app.inject({ url: `${String(second.headers['location'])}/response`, headers: key })
  t.equal(ublAnswer(cancelled).code, 'RE')
})

t.test('the response of a cXML order is a ConfirmationRequest once it is decided', async (t) => {
  const shop = await build(t, { products, settings: { ACCEPTANCE: 'manual' } })
  const key = await shop.key('acme', 'order')
  const place = async (number: string) => {
    const placed = await send(shop, cxmlOrder({ number, payloadId: number, secret: secretOf(key) }), { 'content-type': 'text/xml' })
    return String(placed.headers['location'])
  }
  const response = (url: string) => shop.app.inject({ url: `${url}/response`, headers: key })
  const [one, other] = [await place('C-1'), await place('C-2')]
  t.equal((await response(one)).statusCode, 404, 'not decided')
  await shop.store.setOrderStatus(one.slice('/order/'.length), 'accepted', {})
  await shop.store.setOrderStatus(other.slice('/order/'.length), 'rejected', {})
  const accepted = await response(one)
  t.equal(accepted.headers['content-type'], 'text/xml; charset=utf-8')
  t.match(accepted.body, /<ConfirmationHeader confirmID="[0-9a-f-]{36}\.2" type="accept"/)
  t.match(accepted.body, '<OrderReference orderID="C-1" orderDate="2026-04-20T23:30:00-07:00">')
  t.match(accepted.body, '<DocumentReference payloadID="C-1"')
  t.match((await response(other)).body, /type="reject"[^>]*>\s*<Comments/)
})

t.test('the response has a weak tag, and is evaluated against conditions (RFC 9110 13.2.1)', async (t) => {
  const shop = await build(t, { products, settings: { ACCEPTANCE: 'manual' } })
  const key = await shop.key('acme', 'order')
  const placed = await send(shop, cxmlOrder({ number: 'C-1', secret: secretOf(key) }), { 'content-type': 'text/xml' })
  const url = String(placed.headers['location'])
  const response = (headers = {}) => shop.app.inject({ url: `${url}/response`, headers: { ...key, ...headers } })
  t.equal((await response({ 'if-none-match': '*' })).statusCode, 404, 'no condition holds of what is not there')
  await shop.store.setOrderStatus(url.slice('/order/'.length), 'accepted', {})
  const tag = String((await response()).headers['etag'])
  t.match(tag, /^W\/"[^"]+"$/)
  const unchanged = await response({ 'if-none-match': tag })
  t.match([unchanged.statusCode, unchanged.headers['etag'], unchanged.body], [304, tag, ''])
  for (const wanted of [tag, tag.slice(2), '"x"']) t.equal((await response({ 'if-match': wanted })).statusCode, 412, wanted)
  await shop.store.setOrderStatus(url.slice('/order/'.length), 'shipped', {})
  t.equal((await response({ 'if-none-match': tag })).statusCode, 200, 'another status is another answer')
})

t.test('an OrderChange keeps the document of the order, line by line and whole', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const first = ublOrder({ lines: [ublLine(), ublLine({ id: '2', product: 'SCREW-3', price: '' })] })
  const url = String((await send(shop, first, key)).headers['location'])
  const document = async () => (await shop.app.inject({ url: `${url}/document`, headers: key })).body
  await send(shop, ublChange({ lines: [ublLine({ status: '3', quantity: '3' })] }), key)
  t.equal(await document(), first)
  await send(shop, ublChange({ lines: [ublLine({ quantity: '4' })] }), key)
  t.equal(await document(), first)
})

t.test('an Order that revises another one, and a cXML update, become the document of the order', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const reference = '<cac:OrderDocumentReference><cbc:ID>PO-7#2026-11-20#A#Revised</cbc:ID></cac:OrderDocumentReference>'
  const lines = [ublLine({ quantity: '4' })]
  const attributes = ' type="update"'
  for (const [first, second] of [
    [ublOrder(), ublOrder({ number: 'PO-8', header: reference, lines })],
    [
      cxmlOrder({ number: 'C-1', payloadId: '1@b' }),
      cxmlOrder({ number: 'C-1', payloadId: '2@b', attributes, lines: [cxmlLine({ quantity: '3' })] })
    ]
  ] as const) {
    const url = String((await send(shop, first, key)).headers['location'])
    const document = async () => (await shop.app.inject({ url: `${url}/document`, headers: key })).body
    t.equal(await document(), first)
    const changed = await send(shop, second, key)
    t.equal(changed.statusCode, 200, changed.body)
    t.equal(await document(), second)
  }
  t.equal(await orderCount(shop), 2)
})

t.test('a PUT of the own vocabulary on an order that came as UBL keeps its document and its lines’ numbers', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const payload = ublOrder({ lines: [ublLine({ id: '10' })] })
  const url = String((await send(shop, payload, key)).headers['location'])
  const { body, headers } = await shop.app.inject({ url, headers: { ...key, accept: 'application/xml' } })
  const changed = await shop.app.inject({
    method: 'PUT',
    url,
    headers: { ...key, 'content-type': 'application/xml', 'if-match': String(headers['etag']) },
    payload: body.replace('>2</quantity>', '>5</quantity>')
  })
  t.equal(changed.statusCode, 200, changed.body)
  t.match(changed.body, 'rel="original"')
  t.equal((await shop.app.inject({ url: `${url}/document`, headers: key })).body, payload)
  t.match(await read(shop, url, key), { item: [{ lineId: '10', quantity: { value: '5' } }] })
  t.equal((await send(shop, ublChange({ lines: [ublLine({ id: '10', status: '3', quantity: '6' })] }), key)).statusCode, 200)
  t.same([await orderCount(shop), await onHand(shop)], [1, '94'])
})

t.test('with a base path, all links and Locations have it', async (t) => {
  const shop = await build(t, { products, settings: { BASE_URL: '/trade' } })
  const placed = await shop.app.inject({
    method: 'POST',
    url: '/trade/order',
    headers: { 'content-type': 'text/xml' },
    payload: ublOrder()
  })
  t.match(placed.headers['location'], /^\/trade\/order\//)
  for (const [, href = ''] of String(placed.headers['link']).matchAll(/<([^>]*)>/g)) {
    t.equal((await shop.app.inject(href)).statusCode, 200, href)
  }
})
