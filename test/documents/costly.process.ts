import t from 'tap'
import { Documents } from '../../documents/documents.ts'
import type { Payer } from '../../documents/payer.ts'
import { purchaseOrder } from '../../schemas/purchase-order.ts'
import { build, xml } from '../build.ts'

const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
const costly = `<purchase-order>${item.repeat(500_000)}</purchase-order>`

t.test('a document that takes too long is refused, and nothing is stored', async (t) => {
  const { app, store } = await build(t, { settings: { BODY_LIMIT: '33554432', MAX_ORDER_ITEMS: '1000000' } })
  const answer = await app.inject({ method: 'POST', url: '/order', headers: xml, payload: costly })
  t.match(answer, { statusCode: 422, body: /document-too-costly/ })
  t.equal((await store.orders({ limit: 10 })).items.length, 0)
})

t.test('its sender is charged for all the time that a document may take: 100 requests of 50 ms', async (t) => {
  const charged: number[] = []
  const payer: Payer = {
    sender: () => ({ name: 'a', group: 'guests', signal: new AbortController().signal }),
    chargeWork: (milliseconds) => charged.push(milliseconds),
    workRefusal: () => undefined
  }
  const limits = { maxOrderItems: 1_000_000, marks: 20_000_000 }
  const reading = new Documents(() => undefined).read(payer, { notation: 'xml', bytes: Buffer.from(costly) }, purchaseOrder, limits)
  await t.rejects(reading, { code: 'document-too-costly' })
  t.same(charged, [100 * 50])
})
