import t from 'tap'
import { build, xml } from '../build.ts'
import { ask, listening, message } from '../http/wire.ts'
import { item, order } from '../plugins/refusal.ts'

t.test('10,000 items are accepted, each with a price and a note', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': { backorder: true } } })
  const one = item(undefined, '<quantity unit="C62">1</quantity>', '<unit-price>9.99</unit-price><note>a</note>')
  const response = await app.inject({ method: 'POST', url: '/order', headers: xml, payload: order(one.repeat(10_000)) })
  t.equal(response.statusCode, 201, response.body.slice(0, 500))
  t.match(response.body, '<total currency="EUR">99900.00</total>')
})

t.test('an order at all of the default limits is placed; more markup than it could have is refused before it is read', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': { backorder: true } } })
  await listening(app)
  const post = (type: string, body: string) => ask(t, app, message('POST /order', { 'content-type': type }, body))
  const item = `<item><product-id>ABC-1</product-id><quantity>1</quantity>${'<note>a</note>'.repeat(9)}</item>`
  const xml = `<purchase-order>${item.repeat(10_000)}</purchase-order>`
  t.ok(xml.length < 2_097_152 && xml.length > 1_900_000, `${xml.length} bytes`)
  t.equal((await post('application/xml', xml)).status, 201)
  const items = Array.from({ length: 10_000 }, () => ({ productId: 'ABC-1', quantity: '1', note: Array(9).fill('a') }))
  t.equal((await post('application/json', JSON.stringify({ item: items }))).status, 201)
  t.match(await post('application/xml', `<purchase-order>${'<a/>'.repeat(200_001)}</purchase-order>`), { status: 400, body: /200000/ })
  const many = Array.from({ length: 10_000 }, () => ({ productId: 'ABC-1', quantity: '1', note: Array(18).fill('a') }))
  t.match(await post('application/json', JSON.stringify({ item: many })), { status: 422, body: /200000/ })
  t.equal((await store.orders({ limit: 10 })).items.length, 2)
})
