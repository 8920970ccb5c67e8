import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, form, orderXml, type Shop, xml } from '../build.ts'

const post = ({ app }: Shop, payload: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload })

const onHand = async ({ store }: Shop, id = 'ABC-1') => (await store.stock(id)).onHand

t.test('the smallest purchase order is placed: 201, Location, ETag, the order as body', async (t) => {
  const shop = await build(t)
  const response = await post(shop, orderXml())
  t.equal(response.statusCode, 201, response.body)
  t.match(response.headers['location'], /^\/order\/[0-9a-f-]{36}$/)
  t.match(response.headers['etag'], /^"[^"]+"$/)
  t.match(response.body, '<total currency="EUR">9.99</total>')
  t.equal(await onHand(shop), '99')
  const read = await shop.app.inject(String(response.headers['location']))
  t.equal(read.body, response.body)
  t.equal(read.headers['etag'], response.headers['etag'])
  t.equal(read.headers['cache-control'], 'private, no-cache')
  t.equal(read.headers['referrer-policy'], 'no-referrer')
  t.match(read.headers['x-robots-tag'], 'noindex')
})

const full = `<purchase-order>
  <order-number>PO-2026-0042</order-number>
  <issue-date>2026-11-20</issue-date>
  <currency>EUR</currency>
  <buyer><name>ACME &amp; Söhne</name><email>buy@acme.example</email><phone>+49 30 1</phone><tax-id>DE1</tax-id>
    <address><street>Weg 1</street><additional-street>Hof</additional-street><city>Köln</city><postal-code>50667</postal-code><region>NW</region><country>DE</country></address></buyer>
  <ship-to><name>Dock 4</name></ship-to>
  <bill-to><name>Books</name></bill-to>
  <requested-delivery-date>2026-12-01</requested-delivery-date>
  <note>first</note><note>second,
on two lines</note>
  <extension name="cost-centre">4711</extension>
  <item><product-id>ABC-1</product-id><quantity unit="KGM"> 2.5 </quantity><unit-price>9.990</unit-price><note>gently</note></item>
  <item><gtin>4006381333931</gtin><quantity>3</quantity></item>
</purchase-order>`

t.test('every field of a purchase order comes back as it was sent, in XML and in JSON', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { unit: 'KGM' }, 'PEN-1': { gtin: '4006381333931', price: decimal('0.0185') } } })
  const { body, headers, statusCode } = await post(shop, full)
  t.equal(statusCode, 201, body)
  for (const part of full.matchAll(
    /<(order-number|issue-date|name|email|tax-id|street|additional-street|city|country|requested-delivery-date|note|extension)[\s\S]*?<\/\1>/g
  )) {
    t.ok(body.includes(part[0]), part[0])
  }
  t.match(
    body,
    /<quantity unit="KGM">2.5<\/quantity>\s*<unit-price>9.99<\/unit-price>\s*<line-total>24.98<\/line-total>/,
    'half-up to the cent'
  )
  t.match(body, /<product-id href="\/product\/PEN-1">PEN-1<\/product-id>[\s\S]*<line-total>0.06<\/line-total>/, 'by GTIN')
  t.match(body, '<total currency="EUR">25.04</total>', 'the sum of the rounded lines')
  const { body: json } = await shop.app.inject({ url: String(headers['location']), headers: { accept: 'application/json' } })
  t.match(JSON.parse(json), {
    orderNumber: 'PO-2026-0042',
    buyer: { name: 'ACME & Söhne', taxId: 'DE1', address: { additionalStreet: 'Hof', country: 'DE' } },
    note: ['first', 'second,\non two lines'],
    extension: [{ name: 'cost-centre', value: '4711' }],
    item: [
      { line: '1', productId: { value: 'ABC-1', href: '/product/ABC-1' }, quantity: { value: '2.5', unit: 'KGM' }, note: ['gently'] },
      { line: '2' }
    ],
    total: { value: '25.04', currency: 'EUR' }
  })
})

t.test('all that stands in the way of an order is named at once, each with its line and path, and nothing is stored', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('5') }, 'KG-1': { unit: 'KGM' } } })
  const refused = await post(
    shop,
    `<purchase-order>
  <currency>USD</currency>
  <item><product-id>NOPE</product-id><quantity>1</quantity></item>
  <item><product-id>KG-1</product-id><quantity unit="C62">1</quantity></item>
  <item><product-id>ABC-1</product-id><quantity>6</quantity><unit-price>9.98</unit-price></item>
</purchase-order>`
  )
  t.equal(refused.statusCode, 422)
  t.match(refused.headers['content-type'], 'application/problem+xml')
  const errors = [...refused.body.matchAll(/<code>(.*?)<\/code>\s*<line>(\d+)<\/line>\s*<path>(.*?)<\/path>/g)].map(([, ...found]) => found)
  t.same(errors, [
    ['wrong-currency', '2', '/purchase-order/currency'],
    ['unknown-product', '3', '/purchase-order/item[1]/product-id'],
    ['wrong-unit', '4', '/purchase-order/item[2]/quantity'],
    ['price-changed', '5', '/purchase-order/item[3]/unit-price'],
    ['out-of-stock', '5', '/purchase-order/item[3]/quantity']
  ])
  t.equal(await onHand(shop), '5')
  t.same((await shop.store.orders({ limit: 10 })).items, [])
})

t.test('a refusal by the present state of the shop is 409: too little stock, or another price than expected', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('5') } } })
  const short = await post(
    shop,
    '<purchase-order><item><product-id>ABC-1</product-id><quantity>3</quantity></item><item><product-id>ABC-1</product-id><quantity>3</quantity></item></purchase-order>'
  )
  t.equal(short.statusCode, 409, 'lines for one product add up')
  t.equal(short.body.match(/out-of-stock/g)?.length, 2)
  t.match(short.body, 'There is not enough of ABC-1: the order needs 6, and 5 are on hand.')
  const dear = await post(
    shop,
    '<purchase-order><item><product-id>ABC-1</product-id><quantity>3</quantity><unit-price>9.98</unit-price></item></purchase-order>'
  )
  t.equal(dear.statusCode, 409)
  t.match(dear.body, 'ABC-1 costs 9.99 EUR, not the expected 9.98.')
  t.equal(await onHand(shop), '5')
})

t.test('a changed order is told how much more of a product it needs than it has', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('5') } } })
  const ordering = (quantity: number) =>
    `<purchase-order><item><product-id>ABC-1</product-id><quantity>${quantity}</quantity></item></purchase-order>`
  const placed = await post(shop, ordering(3))
  const short = await shop.app.inject({
    method: 'PUT',
    url: String(placed.headers['location']),
    headers: { ...xml, 'if-match': String(placed.headers['etag']) },
    payload: ordering(9)
  })
  t.match([short.statusCode, short.body], [409, 'There is not enough of ABC-1: the order needs 6 more, and 2 are on hand.'])
})

t.test('JSON and forms place the same order as XML, and name their own places when they are refused', async (t) => {
  const shop = await build(t)
  const json = (payload: object) =>
    shop.app.inject({ method: 'POST', url: '/order', headers: { 'content-type': 'application/json', accept: 'application/json' }, payload })
  const sendForm = (payload: string) =>
    shop.app.inject({
      method: 'POST',
      url: '/order',
      headers: { ...form, accept: 'application/json' },
      payload
    })
  const placed = await json({ item: [{ productId: 'ABC-1', quantity: { value: '2', unit: 'C62' } }] })
  t.equal(placed.statusCode, 201, placed.body)
  const wrong = await json({
    item: [
      { productId: 'ABC-1', quantity: '2' },
      { productId: 'NOPE', quantity: '1' }
    ]
  })
  t.match([wrong.statusCode, wrong.json().errors], [422, [{ code: 'unknown-product', path: '/item/1/productId' }]])
  const filled = await sendForm('item.1.product-id=ABC-1&item.1.quantity=2&item.2.product-id=&item.2.quantity=&buyer.name=Ann')
  t.equal(filled.statusCode, 303, filled.body)
  const read = await shop.app.inject({ url: String(filled.headers['location']), headers: { accept: 'application/json' } })
  t.match(read.json(), { buyer: { name: 'Ann' }, item: [{ quantity: { value: '2' } }] })
  const mistyped = await sendForm('item.1.product-id=&item.3.product-id=NOPE&item.3.quantity=1')
  t.match([mistyped.statusCode, mistyped.json().errors], [422, [{ code: 'unknown-product', path: 'item.3.product-id' }]])
})

t.test('the machine client that knows only the links goes from / to a placed, changed, cancelled order', async (t) => {
  const shop = await build(t)
  const { app } = shop
  const link = (body: string, rel: string) => {
    const found = [...body.matchAll(/<link ([^>]*)\/>/g)].map(([, attributes = '']) =>
      Object.fromEntries([...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
    )
    const href = found.find((one) => one['rel'] === rel)
    return { url: href?.['href'] ?? `no link ${rel}`, method: (href?.['method'] ?? 'GET') as 'GET' }
  }
  const { body: service } = await app.inject('/')
  const { body: page } = await app.inject(link(service, 'products'))
  const { body: product } = await app.inject(link(page.slice(page.indexOf('<product ')), 'self'))
  const { body: blank } = await app.inject(link(product, 'order'))
  const id = /<product id="([^"]*)"/.exec(product)?.[1]
  const filled = blank.replace('<product-id/>', `<product-id>${id}</product-id>`).replace('<quantity/>', '<quantity>2</quantity>')
  const placed = await app.inject({ ...link(product, 'order'), method: 'POST', headers: xml, payload: filled })
  t.equal(placed.statusCode, 201, placed.body)
  const read = await app.inject(link(placed.body, 'self'))
  const edited = read.body.replace('>2</quantity>', '>3</quantity>')
  const changed = await app.inject({
    ...link(read.body, 'edit'),
    headers: { ...xml, 'if-match': String(read.headers['etag']) },
    payload: edited
  })
  t.equal(changed.statusCode, 200, changed.body)
  t.match(changed.body, '<total currency="EUR">29.97</total>')
  t.equal(await onHand(shop), '97')
  const cancelled = await app.inject(link(changed.body, 'cancel'))
  t.equal(cancelled.statusCode, 200)
  t.match(cancelled.body, '<status>cancelled</status>')
  t.notMatch(cancelled.body, /rel="(?:edit|cancel)"/)
  t.equal(await onHand(shop), '100')
  const again = await app.inject(link(changed.body, 'cancel'))
  t.same([again.statusCode, again.body], [200, cancelled.body], 'a second DELETE has the same answer')
})

t.test('a changed order keeps the price of what it had; more of it and new lines get today’s', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': {}, 'ABC-2': {} } })
  const placed = await post(shop, orderXml({ 'ABC-1': 1 }))
  for (const id of ['ABC-1', 'ABC-2'])
    await shop.store.putProduct(id, { name: 'Dearer', price: decimal('20'), unit: 'C62', categories: [], images: [], backorder: false }, {})
  const url = String(placed.headers['location'])
  const changed = await shop.app.inject({
    method: 'PUT',
    url,
    headers: { ...xml, 'if-match': String(placed.headers['etag']) },
    payload: orderXml({ 'ABC-1': 2, 'ABC-2': 1 })
  })
  t.match(changed.body, '<total currency="EUR">49.99</total>', '9.99, and twice 20')
  t.match(
    changed.body,
    /<item line="1">[\s\S]*<name>Hex bolt<\/name>[\s\S]*<item line="2">[\s\S]*ABC-1[\s\S]*<name>Dearer<\/name>[\s\S]*<item line="3">/
  )
  const headers = { ...xml, 'if-match': String(changed.headers['etag']) }
  const same = await shop.app.inject({ method: 'PUT', url, headers, payload: changed.body })
  const items = (body: string) => body.slice(body.indexOf('<item'), body.indexOf('<link'))
  t.equal(items(same.body), items(changed.body), 'what has two prices comes out as it went in')
})

t.test('a deleted product leaves the orders that name it whole', async (t) => {
  const shop = await build(t)
  const placed = await post(shop, orderXml())
  await shop.store.deleteProduct('ABC-1', {})
  const url = String(placed.headers['location'])
  const read = await shop.app.inject(url)
  t.same([read.statusCode, read.body], [200, placed.body])
  t.equal((await shop.app.inject('/product/ABC-1')).statusCode, 410)
  const refused = await post(shop, orderXml())
  t.match([refused.statusCode, refused.body], [422, 'unknown-product'])
  const same = await shop.app.inject({
    method: 'PUT',
    url,
    headers: { ...xml, 'if-match': String(read.headers['etag']) },
    payload: read.body.replace('<item ', '<note>hurry</note><item ')
  })
  t.equal(same.statusCode, 200, same.body)
  t.equal((await shop.app.inject({ method: 'DELETE', url })).statusCode, 200)
})

t.test('the page of an order speaks to its buyer of “your” order, and to the seller of the buyer’s', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('Seller', 'fulfilment')
  const ofBuyer = `<purchase-order><order-number>PO-7</order-number><item><line-id>10</line-id><product-id>ABC-1</product-id><quantity>1</quantity></item></purchase-order>`
  const url = String((await post(shop, ofBuyer)).headers['location'])
  const page = async (headers = {}) => (await shop.app.inject({ url, headers: { accept: 'text/html', ...headers } })).body
  const buyers = await page()
  for (const words of ['Your order number', 'Your line <bdi>10</bdi>', 'can see the order, and change it until it ships'])
    t.match(buyers, words)
  const sellers = await page(seller)
  for (const words of ['Buyer’s order number', 'Buyer’s line <bdi>10</bdi>']) t.match(sellers, words)
  for (const words of ['Your order number', 'Your line', 'Keep the address']) t.notMatch(sellers, words)
  t.notMatch(await page(await shop.key('Acme', 'order')), 'Keep the address', 'it is advice for guests')

  await shop.app.inject({ method: 'DELETE', url, headers: { 'if-match': '*' } })
  const cancelled = await page()
  t.match(cancelled, 'Keep the address of this page: anybody who has it can see the order.')
})
