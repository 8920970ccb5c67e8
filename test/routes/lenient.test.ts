import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { watchParses } from '../parses.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import { onHand, orderCount, send, ublAnswer, ublLine, ublOrder } from './buyer-fixtures.ts'
import { html, line, post } from './form-post.ts'

const lenient = { prefer: 'handling=lenient' } as const
const products = {
  'ABC-1': { onHand: decimal('3') },
  NONE: { onHand: decimal('0') },
  BACK: { onHand: decimal('1'), backorder: true },
  FULL: {}
}
const mixed = `<purchase-order><order-number>PO-1</order-number>
  <item><line-id>10</line-id><product-id>ABC-1</product-id><quantity>5</quantity></item>
  <item><line-id>20</line-id><product-id>NONE</product-id><quantity>2</quantity></item>
  <item><product-id>BACK</product-id><quantity>4</quantity></item>
  <item><product-id>FULL</product-id><quantity>1</quantity><unit-price>9.00</unit-price></item>
  <item><product-id>FULL</product-id><quantity>1</quantity></item>
</purchase-order>`

const place = ({ app }: Shop, payload: string, headers: Readonly<Record<string, string>> = {}, url = '/order') =>
  app.inject({ method: 'POST', url, headers: { ...xml, ...lenient, ...headers }, payload })

t.test('a lenient order takes what is available, and each item says what became of it', async (t) => {
  const shop = await build(t, { products })
  const { app } = shop
  const response = await place(shop, mixed)
  t.equal(response.statusCode, 201, response.body)
  t.equal(response.headers['preference-applied'], 'handling=lenient')
  t.same(await faultsByPublishedSchema(app, response.body, ''), [])
  t.match(
    response.body,
    `  <item line="1">
    <line-id>10</line-id>
    <product-id href="/product/ABC-1">ABC-1</product-id>
    <name>Hex bolt</name>
    <quantity unit="C62">3</quantity>
    <unit-price>9.99</unit-price>
    <line-total>29.97</line-total>
    <line-status>changed</line-status>
    <ordered-quantity>5</ordered-quantity>
    <reason>Only 3 of the 5 ordered are available.</reason>
  </item>
  <item line="2">
    <line-id>20</line-id>
    <product-id href="/product/NONE">NONE</product-id>
    <name>Hex bolt</name>
    <quantity unit="C62">0</quantity>
    <unit-price>9.99</unit-price>
    <line-total>0.00</line-total>
    <line-status>rejected</line-status>
    <ordered-quantity>2</ordered-quantity>
    <reason>None is on hand.</reason>
  </item>`
  )
  const order = (await app.inject({ url: String(response.headers.location), headers: { accept: 'application/json' } })).json()
  t.match(order.item, [
    { lineStatus: 'changed', orderedQuantity: '5' },
    { lineStatus: 'rejected', quantity: { value: '0', unit: 'C62' } },
    { lineStatus: 'backordered', reason: '1 of the 4 is on hand; the rest is on backorder.' },
    { lineStatus: 'changed', reason: 'It costs 9.99 EUR, not the expected 9.00.' },
    { lineStatus: 'accepted' }
  ])
  for (const name of ['orderedQuantity', 'reason', 'expectedPrice']) t.notOk(name in order.item[4], name)
  const page = await app.inject({ url: String(response.headers.location), headers: html })
  t.match(page.body, /of 5 units ordered/)
  t.match(page.body, 'None is on hand.')
  for (const status of ['Changed', 'Rejected', 'Backordered', 'Accepted']) t.match(page.body, `<strong>${status}</strong>`)
})

t.test('all or nothing is the default, and has the name handling=strict', async (t) => {
  const shop = await build(t, { products })
  for (const prefer of ['handling=strict', 'handling=all', 'return=representation', 'handling=strict, handling=lenient']) {
    const response = await place(shop, mixed, { prefer })
    t.equal(response.statusCode, 409, prefer)
    t.notOk('preference-applied' in response.headers)
  }
  const strict = await place(shop, orderXml(), { prefer: 'handling=strict' })
  t.equal(strict.statusCode, 201)
  t.notMatch(strict.body, 'line-status')
  t.notOk('preference-applied' in strict.headers)
})

t.test('both preferences that are followed are named', async (t) => {
  const shop = await build(t, { products })
  const response = await place(shop, orderXml(), { prefer: 'return=minimal, handling=lenient' })
  t.match(response, { statusCode: 201, body: '', headers: { 'preference-applied': 'handling=lenient, return=minimal' } })
})

t.test(
  'an order that can never be placed is 422, one of which nothing is available is 409, and neither follows a preference',
  async (t) => {
    const shop = await build(t, { products })
    const unknown = await place(shop, orderXml({ 'ABC-1': 9, NOPE: 1 }))
    t.match(unknown, { statusCode: 422, body: /unknown-product/ })
    t.notMatch(unknown.body, 'out-of-stock')
    const none = await place(shop, orderXml({ NONE: 1 }))
    t.match(none, { statusCode: 409, body: /not enough of NONE/ })
    t.equal(none.body, (await send(shop, orderXml({ NONE: 1 }))).body)
    for (const { headers } of [unknown, none]) t.notOk('preference-applied' in headers)
    t.equal(await orderCount(shop), 0)
  }
)

t.test('the same document finds its order again, by its number and by its Idempotency-Key', async (t) => {
  const shop = await build(t, { products })
  const key = { ...(await shop.key('acme', 'order')), 'idempotency-key': '1' }
  const first = await place(shop, mixed, key)
  const replayed = await place(shop, mixed, key)
  t.match(replayed, {
    statusCode: 201,
    headers: { 'idempotent-replayed': 'true', 'preference-applied': 'handling=lenient' },
    body: first.body
  })
  const { 'idempotency-key': _, ...withoutKey } = key
  const repeated = await place(shop, mixed, withoutKey)
  t.match(repeated, { statusCode: 200, headers: { location: String(first.headers.location) }, body: first.body })
  t.equal((await place(shop, mixed.replace('>5<', '>4<'), withoutKey)).statusCode, 409)
  t.equal(await orderCount(shop), 1)
})

t.test('the same Idempotency-Key finds the order again with or without the preference', async (t) => {
  const shop = await build(t, { products })
  const key = { 'idempotency-key': 'a-key-that-nobody-guesses' }
  const first = await place(shop, mixed, key)
  t.equal(first.statusCode, 201)
  const replayed = await send(shop, mixed, key)
  t.match(replayed, { statusCode: 201, headers: { 'idempotent-replayed': 'true' }, body: first.body })
  t.notOk('preference-applied' in replayed.headers)
  t.equal(await orderCount(shop), 1)
})

t.test('a dry run answers what a lenient order would be', async (t) => {
  const shop = await build(t, { products })
  const dry = await place(shop, mixed, {}, '/order?dry-run=true')
  t.match(dry, { statusCode: 200, headers: { 'preference-applied': 'handling=lenient' } })
  t.same(await faultsByPublishedSchema(shop.app, dry.body, ''), [])
  t.equal(await orderCount(shop), 0)
  const wet = await place(shop, mixed)
  const items = (body: string) =>
    body.slice(body.indexOf('<item'), body.indexOf('<link') === -1 ? body.indexOf('</order>') : body.indexOf('<link'))
  t.equal(items(dry.body).trim(), items(wet.body).trim())
})

t.test('the bytes that GET gave can be sent back: rejected lines do not count, and the answers of lines are gone', async (t) => {
  for (const notation of ['xml', 'json'] as const) {
    const shop = await build(t, { products })
    const { app } = shop
    const url = String((await place(shop, mixed)).headers.location)
    const type = `application/${notation}`
    const read = await app.inject({ url, headers: { accept: type } })
    const put = (payload: string, ifMatch: unknown) =>
      app.inject({ method: 'PUT', url, headers: { 'content-type': type, 'if-match': String(ifMatch) }, payload })
    const same = await put(read.body, read.headers.etag)
    t.equal(same.statusCode, 200, same.body)
    t.notMatch(same.body, /line-?status|ordered-?quantity|"?reason/i)
    t.notMatch(same.body, 'NONE')
    t.match(same.body, '89.91')
    t.equal(await onHand(shop, 'ABC-1'), '0')
    const again = await put(read.body, same.headers.etag)
    t.equal(again.statusCode, 200, 'also when the order has no rejected line any more')
    const wrong = await put(read.body.replaceAll('BACK', 'NOPE'), again.headers.etag)
    const path = notation === 'xml' ? '/order/item[3]/product-id' : '/item/2/productId'
    t.match(wrong, { statusCode: 422, body: 'NOPE' })
    t.match(wrong.body, path, 'a fault names the place in the document')
  }
})

t.test('a rejected line that is given a quantity is ordered, and a 0 that was not rejected is refused', async (t) => {
  const shop = await build(t, { products })
  const { app, store } = shop
  const url = String((await place(shop, mixed)).headers.location)
  const read = await app.inject({ url, headers: { accept: 'application/xml' } })
  const put = (payload: string) => app.inject({ method: 'PUT', url, headers: { ...xml, 'if-match': String(read.headers.etag) }, payload })
  const zero = await put(read.body.replace('<quantity unit="C62">3<', '<quantity unit="C62">0.0<'))
  t.match(zero, { statusCode: 422, body: /quantity must be above 0/ })
  t.match(zero.body, '/order/item[1]/quantity')
  const nothing = await put(
    '<order><item><product-id>NONE</product-id><quantity>0</quantity><line-status>rejected</line-status></item></order>'
  )
  t.match(nothing, { statusCode: 422, body: /Every item was rejected/ })
  t.equal((await send(shop, orderXml({ 'ABC-1': 0 }))).statusCode, 422, 'a new order has no rejected lines')
  await store.putStock('NONE', decimal('7'), {})
  const more = await put(read.body.replace('<quantity unit="C62">0<', '<quantity unit="C62">2<'))
  t.equal(more.statusCode, 200, more.body)
  t.equal(await onHand(shop, 'NONE'), '5')
  t.match(more.body, '<line-id>20</line-id>')
})

t.test('the form that changes an order has its lines but for the rejected ones', async (t) => {
  const shop = await build(t, { products })
  const url = String((await place(shop, mixed)).headers.location)
  const { body } = await shop.app.inject({ url: `${url}?form=change`, headers: html })
  t.notMatch(body, /name="item\.\d+\.product-id" value="NONE"/)
  t.match(body, 'name="item.2.product-id" value="BACK"')
})

t.test("forms and buyers' documents are all or nothing, whatever they prefer", async (t) => {
  const shop = await build(t, { products: { ...products, 'BOLT-8': { price: decimal('9.50'), onHand: decimal('1') } } })
  const form = await post(shop.app, '/order', { ...line, 'item.1.quantity': '9' }, { ...html, ...lenient })
  t.equal(form.statusCode, 409)
  const buyer = await send(shop, ublOrder({ lines: [ublLine({ quantity: '2' })] }), lenient)
  t.match([buyer.statusCode, ublAnswer(buyer).code], [409, 'RE'])
  for (const { headers } of [form, buyer]) t.notOk('preference-applied' in headers)
})

t.test('no large order is parsed in the thread that serves when it is answered line by line', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('1500') } } })
  const parsed = watchParses(t)
  const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  const placed = await place(shop, `<purchase-order>${item.repeat(2_000)}</purchase-order>`)
  t.equal(placed.statusCode, 201)
  t.equal(placed.body.match(/<line-status>rejected</g)?.length, 500)
  const url = String(placed.headers.location)
  const read = await shop.app.inject({ url, headers: { accept: 'application/xml' } })
  const sent = await shop.app.inject({ method: 'PUT', url, headers: { ...xml, 'if-match': String(read.headers.etag) }, payload: read.body })
  t.equal(sent.statusCode, 200, sent.body.slice(0, 300))
  t.equal(sent.body.match(/<item /g)?.length, 1_500)
  t.same(parsed, [])
})

t.test('an order of which a line was rejected can be ordered again if the lines that it has fit into a form', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('500') }, NONE: { onHand: decimal('0') } } })
  const item = (id: string) => `<item><product-id>${id}</product-id><quantity>1</quantity></item>`
  for (const [accepted, isOffered] of [
    [100, true],
    [101, false]
  ] as const) {
    const payload = `<purchase-order>${item('NONE')}${item('ABC-1').repeat(accepted)}</purchase-order>`
    const placed = await place(shop, payload)
    const again = `${placed.headers['location']}?form=again`
    const { body } = await shop.app.inject({ url: String(placed.headers['location']), headers: html })
    t.equal(body.includes(`href="${again}"`), isOffered, `${accepted}`)
    const form = await shop.app.inject({ url: again, headers: html })
    t.equal(form.body.match(/name="item\.\d+\.product-id" value="ABC-1"/g)?.length, isOffered ? accepted : undefined)
    t.notMatch(form.body, /product-id" value="NONE"/)
  }
})
