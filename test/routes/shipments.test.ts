import t from 'tap'
import { build, form, xml } from '../build.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import { html } from './form-post.ts'
import { line, placed, products, ship } from './shipping.ts'

t.test('an order is shipped in parts: each shipment has a URI, and the order follows', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const parts =
    '<shipped-at>2026-11-20T16:00:00+01:00</shipped-at><carrier>DHL</carrier><tracking-number>T1</tracking-number><tracking-uri>https://dhl.example/?a=1&amp;b=2</tracking-uri>'
  const first = await ship(shop, order, `<shipment>${parts}${line(1, 3)}</shipment>`, seller)
  t.match([first.statusCode, first.headers['location']], [201, `${order}/shipment/1`])
  const id = order.split('/').at(-1)
  t.match(first.body, `<shipment order="${id}" number="1">`)
  t.match(first.body, '<shipped-at>2026-11-20T15:00:00Z</shipped-at>')
  t.same(await faultsByPublishedSchema(shop.app, first.body), [])
  const read = await shop.app.inject(`${order}/shipment/1`)
  t.same([read.statusCode, read.body, read.headers['etag']], [200, first.body, first.headers['etag']])
  const again = await shop.app.inject({ url: `${order}/shipment/1`, headers: { 'if-none-match': String(read.headers['etag']) } })
  t.equal(again.statusCode, 304)
  const partly = await shop.app.inject(order)
  t.match(partly.body, /version="2"[\s\S]*<status>accepted<[\s\S]*<shipped-quantity>3<\/shipped-quantity>[\s\S]*rel="shipments"/)
  t.same(await faultsByPublishedSchema(shop.app, partly.body), [])

  const rest = await ship(shop, order, '<shipment/>', seller)
  t.match([rest.statusCode, rest.headers['location']], [201, `${order}/shipment/2`])
  t.match((await shop.app.inject(order)).body, '<status>shipped</status>')
  const list = await shop.app.inject(`${order}/shipments`)
  t.match(list.body, /number="2"[\s\S]*<item-count>2<[\s\S]*number="1"/)
  t.same(await faultsByPublishedSchema(shop.app, list.body), [])
  const json = (await shop.app.inject({ url: `${order}/shipments?limit=1`, headers: { accept: 'application/json' } })).json()
  t.match(json, {
    shipment: [{ number: '2', item: [{ line: '1', productId: { value: 'ABC-1' }, quantity: { value: '1', unit: 'C62' } }, {}] }]
  })
  const next = json.link.find(({ rel }: { rel: string }) => rel === 'next').href
  t.match((await shop.app.inject(next)).body, /number="1"/)
  for (const missing of ['3', '0', '01', 'x', '9999', '99999'])
    t.equal((await shop.app.inject(`${order}/shipment/${missing}`)).statusCode, 404, missing)
  t.equal((await shop.app.inject(`${order}/shipments?limit=101`)).statusCode, 400)
  t.equal((await shop.app.inject(`${order}/shipments?after=x`)).statusCode, 400)
})

t.test('JSON ships as XML does', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const payload = { carrier: 'UPS', item: [{ line: '1', quantity: '2' }] }
  const post = (body: object) => shop.app.inject({ method: 'POST', url: `${order}/shipments`, headers: seller, payload: body })
  const made = await post(payload)
  t.match([made.statusCode, made.json()], [201, { number: '1', carrier: 'UPS', item: [{ line: '1', quantity: { value: '2' } }] }])
  t.equal((await post({})).statusCode, 201)
})

t.test('a shipment that does not fit is refused, with every fault at its place', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const post = (content: string) => ship(shop, order, `<shipment>\n${content}</shipment>`, seller)
  const tooMuch = await post(`${line(1, 5)}\n${line(2, 3)}`)
  t.match([tooMuch.statusCode, tooMuch.body], [409, 'shipment-refused'])
  t.match(tooMuch.body, /ABC-1[\s\S]*<line>2<[\s\S]*ABC-2[\s\S]*<line>3</)
  const unknown = await post(`${line(7, 1)}\n${line(1, 1)}\n${line(1, 1)}`)
  t.match([unknown.statusCode, unknown.body], [422, /invalid-shipment[\s\S]*no line 7[\s\S]*<line>2<[\s\S]*twice[\s\S]*<line>4</])
  for (const wrong of [
    line(1, 0),
    line(0, 1),
    '<item><quantity>1</quantity></item>',
    '<shipped-at>2026-11-20</shipped-at>',
    '<shipped-at>2026-02-30T00:00:00Z</shipped-at>',
    '<shipped-at>1969-12-31T00:00:00Z</shipped-at>',
    '<shipped-at>9999-12-31T23:59:59-14:00</shipped-at>',
    '<tracking-uri>javascript:alert(1)</tracking-uri>',
    '<tracking-uri>https://a b</tracking-uri>',
    '<tracking-uri>http://[x</tracking-uri>',
    `<tracking-uri>https://${'a'.repeat(1993)}</tracking-uri>`,
    '<carrier/>',
    `<carrier>${'c'.repeat(129)}</carrier>`
  ]) {
    const refused = await post(wrong)
    t.match([refused.statusCode, refused.body], [422, 'invalid-document'], wrong.slice(0, 80))
  }
  t.match((await shop.app.inject(order)).body, 'version="1"')
  t.match((await shop.app.inject(`${order}/shipments`)).body, /<shipments order="[^"]+">\s*<link/)
})

t.test('a line number that no number holds exactly is named in the refusal as it was sent, in every notation', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const { headers } = await shop.app.inject({ url: `${order}/status`, headers: seller })
  const sent = '12345678901234567890'
  const put = `<order-status><status>accepted</status><item line="${sent}"><note>x</note></item></order-status>`
  for (const [method, path, payload, type] of [
    ['POST', 'shipments', `<shipment>${line(sent as never, 1)}</shipment>`, xml],
    ['POST', 'shipments', `{"item":[{"line":${sent},"quantity":1}]}`, { 'content-type': 'application/json' }],
    ['POST', 'shipments', `item.1.line=${sent}&item.1.quantity=1`, { ...form, accept: 'application/xml' }],
    ['PUT', 'status', put, { ...xml, 'if-match': String(headers['etag']) }]
  ] as const) {
    const refused = await shop.app.inject({ method, url: `${order}/${path}`, headers: { ...type, ...seller }, payload })
    t.match([refused.statusCode, refused.body], [422, `The order has no line ${sent}.`], payload)
  }
})

t.test('JSON with an empty list of items ships nothing: a program that found no line must not ship everything', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const headers = { ...seller, 'content-type': 'application/json' }
  const refused = await shop.app.inject({ method: 'POST', url: `${order}/shipments`, headers, payload: '{"item":[]}' })
  t.equal(refused.statusCode, 422)
  t.match(refused.json(), { errors: [{ path: '/item', detail: /leave item out/ }] })
  t.equal((await shop.app.inject(`${order}/shipment/1`)).statusCode, 404)
  const whole = await shop.app.inject({ method: 'POST', url: `${order}/shipments`, headers, payload: '{}' })
  t.equal(whole.statusCode, 201)
})

t.test('half a piece is not shipped, and a form for an order that is not there leaves no stack in the log', async (t) => {
  const log: string[] = []
  const shop = await build(t, { products, logTo: { write: (text: string) => log.push(text) } })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const half = await ship(shop, order, `<shipment>${line(1, '0.5')}</shipment>`, seller)
  t.equal(half.statusCode, 422)
  t.match(half.body, 'Line 1 is counted in whole units (C62): 0.5')
  const headers = { ...seller, ...html, ...form }
  const url = '/order/00000000-0000-4000-8000-000000000000/shipments'
  t.equal((await shop.app.inject({ method: 'POST', url, headers, payload: 'item.1.line=x' })).statusCode, 422)
  t.notMatch(log.join(''), /could not be shown|"stack"/)
})

t.test('only the seller ships, and whoever may see the order sees its shipments', async (t) => {
  const shop = await build(t, { products })
  const [seller, acme, other] = [await shop.key('ERP', 'fulfilment'), await shop.key('ACME', 'order'), await shop.key('Other', 'order')]
  const order = await placed(shop, acme)
  t.equal((await ship(shop, order, '<shipment/>', {})).statusCode, 401)
  t.equal((await ship(shop, order, '<shipment/>', acme)).statusCode, 403)
  t.equal((await ship(shop, '/order/00000000-0000-4000-8000-000000000000', '<shipment/>', seller)).statusCode, 404)
  t.notMatch((await shop.app.inject({ url: order, headers: acme })).body, 'rel="shipments"')
  t.match((await shop.app.inject({ url: order, headers: seller })).body, 'rel="shipments"')
  t.equal((await ship(shop, order, '<shipment/>', seller)).statusCode, 201)
  for (const url of [`${order}/shipments`, `${order}/shipment/1`]) {
    const statuses = [acme, seller, other, {}].map(async (headers) => (await shop.app.inject({ url, headers })).statusCode)
    t.same(await Promise.all(statuses), [200, 200, 404, 404], url)
  }
  t.match((await shop.app.inject({ url: order, headers: acme })).body, 'rel="shipments"')
})

t.test('a shipment is repeated safely by its Idempotency-Key, which is that of one order', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const [order, second] = [await placed(shop), await placed(shop)]
  const read = await shop.app.inject({ url: order, headers: seller })
  const headers = { ...seller, 'idempotency-key': 'k', 'if-match': String(read.headers['etag']) }
  const payload = `<shipment>${line(1, 1)}</shipment>`
  const first = await ship(shop, order, payload, headers)
  t.equal(first.statusCode, 201)
  await ship(shop, order, payload, seller)
  const replayed = await ship(shop, order, payload, headers)
  t.same([replayed.statusCode, replayed.body, replayed.headers['location']], [201, first.body, first.headers['location']])
  t.equal(replayed.headers['idempotent-replayed'], 'true')
  const other = await ship(shop, order, '<shipment/>', headers)
  t.match([other.statusCode, other.body], [422, 'idempotency-key-reused'])
  const elsewhere = await ship(shop, second, payload, { ...seller, 'idempotency-key': 'k' })
  t.match([elsewhere.statusCode, elsewhere.headers['location']], [201, `${second}/shipment/1`])
})

t.test('If-Match takes the tag of the order, its status or its shipments (RFC 9110 13.1.1)', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const payload = `<shipment>${line(1, 1)}</shipment>`
  let old = ''
  for (const url of [order, `${order}/status`, `${order}/shipments`]) {
    const { headers } = await shop.app.inject({ url, headers: { ...seller, accept: 'application/json' } })
    if (old !== '') t.equal((await ship(shop, order, payload, { ...seller, 'if-match': old })).statusCode, 412)
    old = String(headers['etag'])
    t.equal((await ship(shop, order, payload, { ...seller, 'if-match': old })).statusCode, 201, url)
  }
  t.equal((await ship(shop, order, payload, { ...seller, 'if-match': old, 'idempotency-key': 'new' })).statusCode, 412)
  t.equal((await ship(shop, order, payload, { ...seller, 'if-match': '*' })).statusCode, 201)
})

t.test('cancelling an order that was shipped in part is repeated as any cancellation', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  await ship(shop, order, `<shipment>${line(1, 3)}</shipment>`, seller)
  const { headers } = await shop.app.inject(order)
  for (const condition of [{ 'if-match': String(headers['etag']) }, { 'if-match': String(headers['etag']) }, {}]) {
    const cancelled = await shop.app.inject({ method: 'DELETE', url: order, headers: { ...xml, ...condition } })
    t.match([cancelled.statusCode, cancelled.body], [200, /version="3"[\s\S]*<status>shipped<[\s\S]*<quantity unit="C62">3</])
  }
  t.equal((await shop.store.stock('ABC-1')).onHand, '97')
  t.equal((await shop.store.stock('ABC-2')).onHand, '100')
})

t.test('a buyer changes what is left, on the bytes that GET gave', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  await ship(shop, order, `<shipment>${line(1, 3)}</shipment>`, seller)
  for (const type of ['application/xml', 'application/json']) {
    const got = await shop.app.inject({ url: order, headers: { accept: type } })
    const headers = { 'content-type': type, accept: type, 'if-match': String(got.headers['etag']) }
    const put = (payload: string) => shop.app.inject({ method: 'PUT', url: order, headers, payload })
    const less = await put(got.body.replace(/(<quantity unit="C62">|"value": ")4/, '$12'))
    t.match([less.statusCode, less.body], [409, /already|shipped/], type)
    const same = await put(got.body)
    t.match([same.statusCode, same.body], [200, /shipped-?[qQ]uantity\W+3/], type)
  }
})
