import t from 'tap'
import { build } from '../build.ts'
import { remaining } from '../http/wire.ts'

t.test('a document that is ended for taking too long costs 100 requests and its bytes; who sends more of them is 429', async (t) => {
  const { app, store } = await build(t, { settings: { RATE_LIMIT: '800', BODY_LIMIT: '33554432', MAX_ORDER_ITEMS: '1000000' } })
  const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  const payload = `<purchase-order>${item.repeat(500_000)}</purchase-order>`
  const post = () => app.inject({ method: 'POST', url: '/order', headers: { 'content-type': 'application/xml' }, payload })
  const cost = 100 + Math.ceil(payload.length / 65_536)
  for (let left = 800 - cost; left > -cost; left -= cost) {
    const { statusCode, headers, body } = await post()
    t.match([statusCode, body], [422, 'document-too-costly'])
    t.equal(remaining(headers), Math.max(0, left))
  }
  t.match(await post(), { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  t.equal((await store.orders({ limit: 10 })).items.length, 0)
})
