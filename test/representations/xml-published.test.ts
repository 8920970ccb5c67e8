import t, { type Test } from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { faultsByPublishedSchema } from './published.ts'

const everything = `<purchase-order>
  <order-number>PO &lt;1&gt;</order-number><issue-date>2026-11-20</issue-date><currency>EUR</currency>
  <buyer><name>A &amp; B</name><email>a@b.example</email><phone>+49 1</phone><tax-id>DE1</tax-id>
    <address><street>S 1</street><additional-street/><city>C</city><postal-code>1</postal-code><region>R</region><country>DE</country></address></buyer>
  <ship-to><address/></ship-to><bill-to/><requested-delivery-date>2026-12-01Z</requested-delivery-date>
  <note>one&#13;
two</note><note/><extension name="cost centre">4711</extension>
  <item><product-id>ABC-1</product-id><quantity unit="KGM">1.500</quantity><unit-price>9.9900</unit-price><note>n</note></item>
  <item><gtin>4006381333931</gtin><quantity>2</quantity></item>
</purchase-order>`

const products = {
  'ABC-1': {
    description: 'With <everything> & "more" ]]>',
    categories: ['a', 'b'],
    images: ['/a.png', 'https://a.example/?b&c'],
    unit: 'KGM',
    minimumQuantity: decimal('0.5'),
    quantityStep: decimal('0.25')
  },
  'B.2~_-': { gtin: '4006381333931', backorder: true, onHand: decimal('0') },
  Z: { onHand: decimal('0'), price: decimal('0.0001') }
}

async function readAll(t: Test, { app, key }: Shop, base: string, ...paths: readonly string[]) {
  const headers = { ...(await key('Erp', 'fulfilment', 'order', 'catalogue')), accept: 'application/xml' }
  for (const path of paths) {
    const response = await app.inject({ url: `${base}${path}`, headers })
    t.equal(response.statusCode, 200, path)
    t.same(await faultsByPublishedSchema(app, response.body, base), [], `${path} is valid`)
  }
}

for (const base of ['', '/shop']) {
  t.test(`every document is valid against the schema that is published for its root${base ? ', under a base path too' : ''}`, async (t) => {
    const shop = await build(t, { products, settings: { BASE_URL: base || '/', ACCEPTANCE: 'manual' } })
    const place = async (payload: string, headers = {}) => {
      const response = await shop.app.inject({ method: 'POST', url: `${base}/order`, headers: { ...xml, ...headers }, payload })
      t.equal(response.statusCode, 201, response.body)
      t.same(await faultsByPublishedSchema(shop.app, response.body, base), [], 'the order that 201 carries')
      return String(response.headers['location']).slice(base.length)
    }
    const customer = await shop.key('Buyer & Co', 'order')
    const uris = [await place(everything, customer), await place(orderXml())]
    for (const uri of uris) await readAll(t, shop, base, uri, `${uri}/status`)
    await readAll(
      t,
      shop,
      base,
      '/',
      '/products',
      '/products?limit=1',
      '/products?q=nothing',
      '/orders',
      '/orders?limit=1',
      '/orders?status=shipped',
      '/catalogue'
    )
    for (const id of Object.keys(products)) await readAll(t, shop, base, `/product/${id}`, `/product/${id}/stock`)
    await readAll(t, shop, base, '/problems/order-refused', '/problems/invalid-document')
  })
}

t.test('a blank order is valid but for its empty product and quantity', async (t) => {
  const { app } = await build(t)
  for (const [path, empty] of [
    ['/order', ['product-id', 'quantity']],
    ['/order?product=ABC-1', ['quantity']]
  ] as const) {
    const response = await app.inject({ url: path, headers: { accept: 'application/xml' } })
    const faults = await faultsByPublishedSchema(app, response.body)
    t.same([...new Set(faults.map(({ message }) => /^Element '([^']*)'/.exec(message)?.[1]))], empty, path)
  }
})

t.test('a document that GET gave can be PUT back, byte for byte', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('Erp', 'fulfilment', 'order', 'catalogue')
  const placed = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...key }, payload: everything })
  for (const url of [String(placed.headers['location']), '/product/ABC-1', '/product/B.2~_-', '/product/ABC-1/stock']) {
    const got = await shop.app.inject({ url, headers: { accept: 'application/xml', ...key } })
    const headers = { ...key, 'content-type': 'application/xml', 'if-match': String(got.headers['etag']) }
    const put = await shop.app.inject({ method: 'PUT', url, headers, payload: got.body })
    t.equal(put.statusCode, 200, `${url}: ${put.body}`)
    const json = await shop.app.inject({ url, headers: { accept: 'application/json', ...key } })
    const again = await shop.app.inject({
      method: 'PUT',
      url,
      headers: { ...key, 'content-type': 'application/json', 'if-match': String(json.headers['etag']) },
      payload: json.body
    })
    t.equal(again.statusCode, 200, `${url} as JSON: ${again.body}`)
  }
})
