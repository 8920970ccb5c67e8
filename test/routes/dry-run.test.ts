import t from 'tap'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { watchParses } from '../parses.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import {
  cxmlAnswer,
  cxmlOrder,
  onHand,
  orderCount,
  products,
  send,
  ublAnswer,
  ublCancellation,
  ublChange,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'
import { html, line, post } from './form-post.ts'

const json = { 'content-type': 'application/json' } as const
const checked = '/order?dry-run=true'

const postXml = ({ app }: Shop, url: string, payload: string, headers = {}) =>
  app.inject({ method: 'POST', url, headers: { ...xml, ...headers }, payload })

async function stored({ app, key }: Shop): Promise<number> {
  const { body } = await app.inject({ url: '/orders', headers: { ...(await key('ERP', 'fulfilment')), accept: 'application/json' } })
  return JSON.parse(body).order.length
}

t.test('a dry run answers the priced order as it would be: no id, version, dates, links, Location and ETag', async (t) => {
  const shop = await build(t)
  const response = await postXml(shop, checked, orderXml({ 'ABC-1': 3 }, '<order-number>PO-1</order-number>'))
  t.equal(response.statusCode, 200, response.body)
  t.equal(
    response.body,
    `<?xml version="1.0" encoding="UTF-8"?>
<order>
  <status>accepted</status>
  <order-number>PO-1</order-number>
  <currency>EUR</currency>
  <item line="1">
    <product-id href="/product/ABC-1">ABC-1</product-id>
    <name>Hex bolt</name>
    <quantity unit="C62">3</quantity>
    <unit-price>9.99</unit-price>
    <line-total>29.97</line-total>
  </item>
  <total currency="EUR">29.97</total>
</order>
`
  )
  for (const name of ['location', 'content-location', 'etag', 'last-modified', 'link']) t.notOk(name in response.headers, name)
  t.match(response.headers, { 'content-type': 'application/xml; charset=utf-8', 'cache-control': 'no-store', vary: 'Accept' })
  t.same(await faultsByPublishedSchema(shop.app, response.body, ''), [])
  t.equal(await onHand(shop, 'ABC-1'), '100')
  t.equal(await stored(shop), 0)

  const asJson = await shop.app.inject({
    method: 'POST',
    url: checked,
    headers: json,
    payload: '{"item":[{"productId":"ABC-1","quantity":2}]}'
  })
  t.equal(asJson.headers['content-type'], 'application/json; charset=utf-8')
  t.match(JSON.parse(asJson.body), { status: 'accepted', item: [{ lineTotal: '19.98' }], total: { value: '19.98' } })
  for (const name of ['id', 'version', 'placedAt', 'modifiedAt']) t.notOk(name in JSON.parse(asJson.body), name)
})

t.test('a dry run is refused exactly as the order would be', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: '2' as never } } })
  for (const [payload, status, headers] of [
    [orderXml({ 'ABC-1': 3 }), 409, {}],
    [orderXml({ 'ABC-1': 3, NOPE: 1 }), 422, {}],
    ['<purchase-order/>', 422, {}],
    ['<purchase-order', 400, {}],
    [orderXml(), 400, { 'idempotency-key': 'short' }],
    [orderXml(), 406, { accept: 'image/png' }],
    [orderXml(), 401, { authorization: 'Bearer tp_wrong' }]
  ] as const) {
    const [wet, dry] = [await postXml(shop, '/order', payload, headers), await postXml(shop, checked, payload, headers)]
    t.same([wet.statusCode, dry.statusCode], [status, status])
    t.equal(dry.body.replace('?dry-run=true', ''), wet.body)
  }
  t.equal((await postXml(shop, checked, orderXml())).statusCode, 200)
})

t.test('dry-run is true or false; other parameters are ignored as before', async (t) => {
  const shop = await build(t)
  for (const query of [
    'dry-run=',
    'dry-run=1',
    'dry-run=yes',
    'dry-run=TRUE',
    'dry-run=true&dry-run=true',
    'dry-run=true&dry-run=false',
    'dry-run'
  ]) {
    t.match(await postXml(shop, `/order?${query}`, orderXml()), { statusCode: 400, body: /malformed-request.*dry-run/s }, query)
  }
  t.equal(await stored(shop), 0)
  for (const query of ['dry-run=false', 'other=1', '']) t.equal((await postXml(shop, `/order?${query}`, orderXml())).statusCode, 201, query)
  t.equal(await stored(shop), 3)
})

t.test('a dry run neither keeps nor replays an Idempotency-Key', async (t) => {
  const shop = await build(t)
  const key = { 'idempotency-key': '8e03978e-40d5-43dd-bc93-6894a57f9324' }
  t.equal((await postXml(shop, checked, orderXml({ 'ABC-1': 2 }), key)).statusCode, 200)
  const first = await postXml(shop, '/order', orderXml(), key)
  t.equal(first.statusCode, 201, 'the key is free for another order')
  t.notOk('idempotent-replayed' in first.headers)
  const again = await postXml(shop, checked, orderXml(), key)
  t.equal(again.statusCode, 200)
  for (const name of ['idempotent-replayed', 'location']) t.notOk(name in again.headers, name)
  t.equal(await onHand(shop, 'ABC-1'), '99')
})

t.test('a dry run of an order that was placed answers with that order, and of another under its number 409', async (t) => {
  const shop = await build(t)
  const key = await shop.key('acme', 'order')
  const payload = orderXml({ 'ABC-1': 2 }, '<order-number>PO-1</order-number>')
  t.equal((await postXml(shop, checked, payload, key)).statusCode, 200)
  const placed = await postXml(shop, '/order', payload, key)
  t.equal(placed.statusCode, 201, 'the number was not taken by the dry run')
  const { statusCode, headers, body } = await postXml(shop, checked, payload, key)
  t.match(
    { statusCode, headers },
    { statusCode: 200, headers: { location: String(placed.headers.location), etag: String(placed.headers.etag) } }
  )
  t.equal(body, placed.body)
  const other = await postXml(shop, checked, payload.replace('>2<', '>3<'), key)
  t.match(other, { statusCode: 409, headers: { location: String(placed.headers.location) }, body: /order-number-taken/ })
})

t.test('a form is checked on a page, and its Check button does that', async (t) => {
  const shop = await build(t)
  const form = await shop.app.inject({ url: '/order', headers: html })
  t.match(form.body, '<button class="quiet" formaction="/order?dry-run=true">')
  const page = await post(shop.app, checked, { ...line, '_idempotency-key': 'a'.repeat(16) })
  t.equal(page.statusCode, 200, page.body)
  t.match(page.body, /Nothing was ordered/)
  t.match(page.body, '€29.97')
  for (const never of ['Order id', 'Keep the address', '/order/', 'Cancel']) t.notMatch(page.body, never)
  const sentAgain = Object.fromEntries(
    [...page.body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [name, value])
  )
  t.match(sentAgain, { ...line, '_idempotency-key': 'a'.repeat(16) }, 'the page has all that was typed')
  const changed = await post(shop.app, '/order', { ...sentAgain, _more: '0' })
  t.match([changed.statusCode, changed.body], [200, 'id="item.1.quantity"'], 'Change it shows the form again')
  const refused = await post(shop.app, checked, { ...line, 'item.1.quantity': '1000' })
  t.match(refused, { statusCode: 409, body: /not enough of ABC-1/ })
  t.match(refused.body, 'name="item.1.quantity"', 'the form is shown again')
  t.equal(await stored(shop), 0)
  const placed = await post(shop.app, '/order', sentAgain)
  t.equal(placed.statusCode, 303)
})

t.test("buyers' documents are answered as their tests are", async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const check = (payload: string) => shop.app.inject({ method: 'POST', url: checked, headers: { ...xml, ...key }, payload })
  const note = 'Test order: checked, nothing was stored.'
  const ok = await check(ublOrder())
  t.match([ok.statusCode, ublAnswer(ok)], [200, { code: 'AP', notes: [note] }])
  t.match(cxmlAnswer(await check(cxmlOrder())), ['200', note])
  t.match(ublAnswer(await check(ublOrder({ lines: [ublLine({ quantity: '1000' })] }))), { code: 'RE' })
  t.equal(await orderCount(shop), 0)
  t.equal((await send(shop, ublOrder(), key)).statusCode, 201, 'the document was not remembered')
  for (const payload of [ublChange({ lines: [ublLine({ quantity: '9', status: '3' })] }), ublCancellation()]) {
    const { statusCode, body } = await check(payload)
    t.match([statusCode, ublAnswer({ body })], [200, { code: 'AP', notes: [note] }])
  }
  t.equal(await onHand(shop), '98')
})

t.test('no large order is parsed in the thread that serves when it is checked', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const parsed = watchParses(t)
  const payload = `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'.repeat(2_000)}</purchase-order>`
  for (const [accept, content] of [
    ['application/xml', /<item line="2000">.*<total currency="EUR">19980\.00/s],
    ['application/json', /"line": "2000".*"value": "19980\.00"/s],
    ['text/html', /lines 1 to 200 of 2000.*19,980\.00/s]
  ] as const) {
    const { statusCode, body } = await postXml(shop, checked, payload, { accept })
    t.equal(statusCode, 200, accept)
    t.match(body, content)
    t.notMatch(body, /id="[0-9a-f]{8}-/)
  }
  t.same(parsed, [])
})

t.test('a parameter that can only be meant as dry-run is refused where it would be ignored, and nothing is stored', async (t) => {
  const shop = await build(t)
  const { headers } = await postXml(shop, '/order', orderXml())
  const order = String(headers['location'])
  for (const [method, url] of [
    ['POST', '/order?dryrun=true'],
    ['POST', '/order?Dry-Run=true'],
    ['POST', '/order?dry_run=1'],
    ['PUT', `${order}?dry-run=true`],
    ['DELETE', `${order}?dry-run=true`]
  ] as const) {
    const payload = method === 'DELETE' ? undefined : orderXml({ 'ABC-1': 2 })
    const answer = await shop.app.inject({ method, url, headers: method === 'DELETE' ? {} : xml, ...(payload ? { payload } : {}) })
    t.equal(answer.statusCode, 400, `${method} ${url}`)
    t.match(answer.body, /Only POST \/order can be a dry run/)
  }
  t.equal(await stored(shop), 1)
  t.match((await shop.app.inject(order)).body, /version="1"[\s\S]*<status>accepted/)
})
