import t, { type Test } from 'tap'
import { decimal } from '../../domain/money.ts'
import { build } from '../build.ts'
import {
  cxmlAnswer,
  cxmlLine,
  cxmlOrder,
  products,
  read,
  send,
  ublAnswer,
  ublCancellation,
  ublChange,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'

const as = (type: string) => ` type="${type}"`

/** A shop with an order of 4 BOLT-8 (line 10) and 2 SCREW-3 (line 20), in the buyer's vocabulary. */
async function ordered(t: Test, vocabulary: 'ubl' | 'cxml') {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const lines = {
    ubl: [ublLine({ id: '10', quantity: '4' }), ublLine({ id: '20', product: 'SCREW-3', price: '' })],
    cxml: [cxmlLine({ number: '10', quantity: '4' }), cxmlLine({ number: '20', product: 'SCREW-3', price: '0.0125' })]
  }
  let sent = 0
  const cxml = (type: string, own = lines.cxml) =>
    send(shop, cxmlOrder({ payloadId: `${++sent}@buyer.example`, attributes: as(type), lines: own }), key)
  const placed = vocabulary === 'ubl' ? await send(shop, ublOrder({ lines: lines.ubl }), key) : await cxml('new')
  const url = String(placed.headers['location'])
  const id = url.slice('/order/'.length)
  return {
    id,
    cxml,
    store: shop.store,
    ubl: (payload: string) => send(shop, payload, key),
    /** Ships 3 of the first line. */
    shipPart: () => shop.store.shipOrder(id, { items: [{ line: 1, quantity: decimal('3') }] }, {}),
    read: () => read(shop, url, key),
    response: async () => (await shop.app.inject({ url: `${url}/response`, headers: key })).body
  }
}

t.test('a cancellation in UBL of an order that was shipped in part is accepted, and says what stays', async (t) => {
  const order = await ordered(t, 'ubl')
  await order.shipPart()
  const stays = 'Only what was not shipped yet is cancelled. What was shipped stays ordered: 3 of BOLT-8.'
  for (const _ of [1, 2]) {
    const answer = await order.ubl(ublCancellation())
    t.match([answer.statusCode, ublAnswer(answer)], [200, { code: 'AP', notes: [stays] }])
  }
  t.match(await order.read(), { status: 'shipped', item: [{ lineId: '10' }] })
  t.match(ublAnswer({ body: await order.response() }), { code: 'AP', notes: [stays] })
  const changed = await order.ubl(ublChange({ lines: [ublLine({ id: '10', status: '3', quantity: '9' })] }))
  t.match([changed.statusCode, ublAnswer(changed)], [409, { code: 'RE', notes: [/Its rest was cancelled.*send a new order/] }])
})

t.test('a delete in cXML of an order that was shipped in part cancels the rest, and says so', async (t) => {
  const order = await ordered(t, 'cxml')
  await order.shipPart()
  for (const _ of [1, 2]) {
    const [code, text] = cxmlAnswer(await order.cxml('delete'))
    t.equal(code, '200')
    t.match(
      text,
      /^The rest of order [0-9a-f-]{36} is cancelled: 1 line, total 28\.50 EUR\. .*stays ordered: 3 of BOLT-8\. Its status is shipped\.$/
    )
  }
  t.match(await order.response(), /type="accept"[^>]*>\s*<Comments[^>]*>Only what was not shipped yet is cancelled\./)
})

const less = /3 of BOLT-8 at 9\.50 EUR was shipped, but the changed order has only [02] of it\. Order at least what was shipped/

t.test('UBL cannot reduce a line below its shipped quantity', async (t) => {
  const order = await ordered(t, 'ubl')
  await order.shipPart()
  for (const line of [ublLine({ id: '10', status: '3', quantity: '2' }), ublLine({ id: '10', status: '2', quantity: '' })]) {
    const refused = await order.ubl(ublChange({ lines: [line] }))
    t.match([refused.statusCode, ublAnswer(refused)], [409, { code: 'RE', notes: [less] }])
  }
})

t.test('cXML cannot reduce a line below its shipped quantity', async (t) => {
  const order = await ordered(t, 'cxml')
  await order.shipPart()
  t.match(cxmlAnswer(await order.cxml('update', [cxmlLine({ number: '10' })])), ['409', less])
})

const noChange = /can no longer be changed\. To get more, send a new order/
const noCancellation = /can no longer be cancelled\. To return goods, ask/

t.test('UBL neither changes nor cancels a shipped order, and the answer says what to do', async (t) => {
  const order = await ordered(t, 'ubl')
  for (const status of ['shipped', 'completed'] as const) {
    await order.store.setOrderStatus(order.id, status, {})
    const change = await order.ubl(ublChange({ lines: [ublLine({ id: '10', status: '3' })] }))
    t.match([change.statusCode, ublAnswer(change)], [409, { code: 'RE', notes: [noChange] }])
    const cancellation = await order.ubl(ublCancellation())
    t.match([cancellation.statusCode, ublAnswer(cancellation)], [409, { code: 'RE', notes: [noCancellation] }])
  }
})

t.test('cXML neither changes nor cancels a shipped order, and the answer says what to do', async (t) => {
  const order = await ordered(t, 'cxml')
  for (const status of ['shipped', 'completed'] as const) {
    await order.store.setOrderStatus(order.id, status, {})
    t.match(cxmlAnswer(await order.cxml('update', [cxmlLine({ number: '10', quantity: '9' })])), ['409', noChange])
    t.match(cxmlAnswer(await order.cxml('delete')), ['409', noCancellation])
  }
})

const details = {
  expectedDeliveryDate: '2026-12-03',
  note: 'Two parcels & one pallet',
  items: [{ line: 2, expectedDeliveryDate: '2026-12-08', note: 'Late' }]
}

t.test('the response in UBL has the expected delivery date as PromisedDeliveryPeriod, and the rest in its note', async (t) => {
  const order = await ordered(t, 'ubl')
  await order.store.setOrderStatus(order.id, 'accepted', {}, { details })
  const body = await order.response()
  const period = '<cac:PromisedDeliveryPeriod>\\s*<cbc:StartDate>2026-12-03</cbc:StartDate>\\s*<cbc:EndDate>2026-12-03</cbc:EndDate>'
  t.match(body, new RegExp(`</cac:BuyerCustomerParty>\\s*<cac:Delivery>\\s*${period}`))
  const comments = ['Two parcels &amp; one pallet\nLine 20: Expected delivery on 2026-12-08. Late']
  t.same(ublAnswer({ body }), { code: 'AP', notes: comments })
  const again = await order.ubl(
    ublOrder({ lines: [ublLine({ id: '10', quantity: '4' }), ublLine({ id: '20', product: 'SCREW-3', price: '' })] })
  )
  t.match([again.statusCode, ublAnswer(again).notes, again.body], [200, comments, '<cac:PromisedDeliveryPeriod>'])
  const cancelled = await order.ubl(ublCancellation())
  t.same(ublAnswer(cancelled), { code: 'AP', notes: [] })
  t.notMatch(cancelled.body + (await order.response()), 'PromisedDeliveryPeriod')
})

t.test('the ConfirmationRequest of cXML has them in its Comments, and why an order was rejected', async (t) => {
  const order = await ordered(t, 'cxml')
  await order.store.setOrderStatus(order.id, 'accepted', {}, { details })
  t.match(
    await order.response(),
    />Expected delivery on 2026-12-03\. Two parcels &amp; one pallet\nLine 20: Expected delivery on 2026-12-08\. Late<\/Comments>/
  )
  await order.store.setOrderStatus(order.id, 'cancelled', {}, { details: { note: 'The factory burnt down' } })
  t.match(await order.response(), /type="reject"[\s\S]*>The order is cancelled\.\n[^<]*The factory burnt down/)
})
