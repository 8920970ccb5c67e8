import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { productXsd } from '../../schemas/product.ts'
import { makeXmlGate } from '../../xml/gate.ts'
import { build, draft, orderXml, xml } from '../build.ts'
import { get, watch } from './catalogue-reading.ts'

const hostile = {
  '~1': {
    name: 'a,"b"\n|c\\',
    description: ' ]]> & <b>\u{1f600}\r ',
    categories: ['x|y', 'x\\', 'ü'],
    images: ['/a?b=c&d', 'https://e.org/|']
  },
  a: { gtin: '4006381333931', backorder: true, onHand: decimal('0') },
  B: { description: '', minimumQuantity: decimal('10'), quantityStep: decimal('2.5') }
}

t.test('the whole catalogue is one XML document, valid against its schema, in the order of ids', async (t) => {
  const shop = await build(t, { products: hostile })
  const { statusCode, headers, body, rawPayload } = await get(shop)
  t.equal(statusCode, 200)
  t.equal(headers['content-type'], 'application/xml; charset=utf-8')
  t.equal(headers['vary'], 'Accept')
  t.match(headers['cache-control'], /^public, max-age=/)
  t.match(headers['link'], '</catalogue>; rel="alternate"; type="text/csv"')
  t.match(headers['link'], '</schemas/catalogue.xsd>; rel="describedby"')
  const gate = makeXmlGate()
  t.same(gate.validate(gate.parse(rawPayload), productXsd, ['catalogue']), [])
  t.same(
    [...body.matchAll(/<product id="([^"]*)"/g)].map(([, id]) => id),
    ['B', 'a', '~1']
  )
  t.match(body, /<minimum-quantity>10<\/minimum-quantity>\s*<quantity-step>2\.5<\/quantity-step>/)
  t.notMatch(body, 'on-hand', 'stock changes at another pace')
})

t.test('an empty catalogue is a document too', async (t) => {
  const shop = await build(t, { products: {} })
  t.match((await get(shop)).body, /<catalogue>\s*<\/catalogue>/)
  t.equal((await get(shop, { accept: 'application/x-ndjson' })).body, '')
  t.match((await get(shop, { accept: 'text/csv' })).body, /^id,version,name,[^\n]*\r\n$/)
})

t.test('a parameter is refused: whoever filters would take everything for what was asked for', async (t) => {
  const { app } = await build(t)
  for (const accept of ['application/xml', 'text/csv', 'application/x-ndjson']) {
    const { statusCode, body } = await app.inject({ url: '/catalogue?category=Safety', headers: { accept } })
    t.equal(statusCode, 400)
    t.match(body.replaceAll('\\"', '"'), 'There is no parameter "category". This resource takes none.', accept)
  }
})

t.test('its other forms are CSV and one JSON a line', async (t) => {
  const shop = await build(t, { products: hostile })
  const csv = await get(shop, { accept: 'text/csv' })
  t.equal(csv.headers['content-type'], 'text/csv; charset=utf-8')
  t.match(csv.body, '~1,1,"a,""b""\n|c\\"," ]]> & <b>\u{1f600}\r ",9.99,EUR,C62,,,,x\\|y|x\\\\|ü,/a?b=c&d|https://e.org/\\|,none,in-stock,')
  t.match(csv.body, /^B,1,Hex bolt,"",9\.99,EUR,C62,10,2\.5,/m, 'an empty text is not the same as none')
  const ndjson = await get(shop, { accept: 'application/x-ndjson' })
  t.equal(ndjson.headers['content-type'], 'application/x-ndjson; charset=utf-8')
  const products = ndjson.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(products.length, 3)
  for (const { link, ...product } of products) {
    t.same(link, [{ rel: 'self', href: `/product/${product.id}` }])
    const { link: _links, ...alone } = (
      await shop.app.inject({ url: `/product/${product.id}`, headers: { accept: 'application/json' } })
    ).json()
    t.same(product, alone, 'as the product itself')
  }
  t.equal((await get(shop, { accept: 'text/html' })).statusCode, 406)
})

t.test('304 comes from the revision: no product is read for it (RFC 9110 13.1.2, 13.1.3)', async (t) => {
  const shop = await build(t, { products: hostile })
  const reading = watch(shop.store)
  const { headers } = await get(shop)
  t.match(headers['etag'], /^W\/"[^"]+"$/, 'weak: it may hold changes that came meanwhile')
  t.equal(reading.started, 1)
  t.equal((await get(shop, { 'if-match': String(headers['etag']).slice(2) })).statusCode, 412, 'compared strongly, no weak tag matches')
  for (const condition of [{ 'if-none-match': String(headers['etag']) }, { 'if-modified-since': String(headers['last-modified']) }]) {
    const again = await get(shop, condition)
    t.equal(again.statusCode, 304)
    t.equal(again.headers['etag'], headers['etag'])
    t.equal(again.headers['cache-control'], headers['cache-control'])
    t.equal(again.body, '')
  }
  t.equal(
    (await get(shop, { accept: 'text/csv', 'if-none-match': String(headers['etag']) })).statusCode,
    200,
    'each form has a tag of its own'
  )
  t.equal(reading.started, 2)
})

t.test('a change of a product changes the tag, and a sale does when it shows', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('2') } } })
  const tag = async () => (await get(shop)).headers['etag']
  const order = () => shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml() })
  const first = await tag()
  await order()
  t.equal(await tag(), first)
  await order()
  const second = await tag()
  t.not(second, first, 'sold out')
  await shop.store.putProduct('ABC-2', draft(), {})
  t.not(await tag(), second)
})

t.test('HEAD answers as GET and reads no product', async (t) => {
  const shop = await build(t, { products: hostile })
  const reading = watch(shop.store)
  const { date: _then, 'transfer-encoding': _coding, ...expected } = (await get(shop)).headers
  const head = await get(shop, {}, 'HEAD')
  t.equal(head.statusCode, 200)
  t.equal(head.body, '')
  const { date: _now, ...headers } = head.headers
  t.match(headers, { ...expected, 'x-request-id': String, ...rates(headers) })
  t.notOk('content-length' in headers, 'nobody knows it')
  t.equal(reading.started, 1)
})

/** The fields that count requests differ between any two answers. */
function rates(headers: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('ratelimit')))
}

t.test('large products come in batches of few, so that others have their turn between them', async (t) => {
  const shop = await build(t, { products: {} })
  const images = Array.from({ length: 100 }, (_, i) => `/${i}`.padEnd(1_600, 'x'))
  await shop.store.importProducts(Array.from({ length: 12 }, (_, i) => ({ id: `p${i}`, draft: draft({ images }) })))
  const reading = watch(shop.store)
  const { body } = await get(shop)
  t.equal([...body.matchAll(/<product /g)].length, 12)
  t.equal(reading.batches, 12)
})

t.test('when the store fails half-way, the client can tell that the document is not whole', async (t) => {
  const shop = await build(t, { products: hostile })
  const real = shop.store.allProducts
  shop.store.allProducts = async function* () {
    yield* real()
    throw new Error('the database is gone')
  }
  const address = await shop.app.listen({ port: 0 })
  const response = await fetch(`${address}/catalogue`)
  t.equal(response.status, 200)
  await t.rejects(response.text())
})
