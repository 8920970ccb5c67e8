import { once } from 'node:events'
import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build } from '../build.ts'
import { countReads } from '../count-reads.ts'
import { listening, message, remaining, Wire } from '../http/wire.ts'
import { watchParses } from '../parses.ts'
import { stopClock } from '../stopped-clock.ts'
import { cxmlAnswer, cxmlLine, cxmlOrder, send, ublAnswer, ublCancellation, ublChange, ublLine, ublOrder } from './buyer-fixtures.ts'

const products = { 'BOLT-8': { price: decimal('9.50'), onHand: decimal('1000000') } }
const more = '<cbc:LineExtensionAmount currencyID="EUR">19.00</cbc:LineExtensionAmount>'
const item =
  '<cbc:Description>A bolt of steel, zinc plated, with a hexagonal head and a coarse thread</cbc:Description><cbc:Name>Bolt</cbc:Name><cac:BuyersItemIdentification><cbc:ID>4711</cbc:ID></cac:BuyersItemIdentification>'
const lines = (count: number) => Array.from({ length: count }, (_, i) => ublLine({ id: String(i + 1), more, item }))

t.test('an order of 3,000 UBL lines is placed, repeated, answered and cancelled, and the thread that serves parses it never', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const parsed = watchParses(t)
  const payload = ublOrder({ lines: lines(3_000) })
  t.ok(payload.length > 1_800_000 && payload.length < 2_097_152, String(payload.length))
  const placed = await send(shop, payload, key)
  t.same([placed.statusCode, ublAnswer(placed).code], [201, 'AP'], placed.body.slice(0, 1_000))
  t.equal((await send(shop, payload, key)).statusCode, 200)
  const url = String(placed.headers['location'])
  const read = (part = '') => shop.app.inject({ url: `${url}${part}`, headers: { ...key, accept: 'application/xml' } })
  t.equal((await read('/document')).body, payload)
  t.equal(ublAnswer(await read('/response')).code, 'AP')
  const whole = await read()
  t.equal(whole.body.match(/<line-id>/g)?.length, 3_000)
  t.match(whole.headers['link'], `<${url}/document>; rel="original"`)
  t.equal((await send(shop, ublChange({ lines: lines(2_500) }), key)).statusCode, 200)
  t.equal((await send(shop, ublCancellation(), key)).statusCode, 200)
  t.same(parsed, [])
})

t.test('of more than twice as many lines as an order may have, the others are only counted', async (t) => {
  const shop = await build(t, { products, settings: { MAX_ORDER_ITEMS: '3' } })
  const key = await shop.key('acme', 'order')
  const ofUbl = await send(shop, ublOrder({ lines: lines(9) }), key)
  t.match([ofUbl.statusCode, ublAnswer(ofUbl).notes[0]], [422, /An order may have 3 items at most; this document has 9/])
  const cxml = (count: number, kept: number) =>
    Array.from({ length: count }, (_, i) => cxmlLine({ number: String(i + 1), attributes: i < kept ? '' : ' operation="delete"' }))
  const ofCxml = await send(shop, cxmlOrder({ lines: cxml(9, 9) }), key)
  t.match(cxmlAnswer(ofCxml)[1], /this document has 9/)
  const deleted = await send(shop, cxmlOrder({ lines: cxml(7, 2) }), key)
  t.match(cxmlAnswer(deleted)[1], /this document has 7/, 'also if most are deleted')
  const placed = await send(shop, cxmlOrder({ lines: cxml(6, 2) }), key)
  t.equal(cxmlAnswer(placed)[0], '200', placed.body)
  t.equal((await shop.store.orders({ limit: 9 })).items.length, 1)
})

t.test('the serving thread does not parse a large order of which a few lines change', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const parsed = watchParses(t)
  const placed = await send(shop, ublOrder({ lines: lines(1_000) }), key)
  const changes = [
    ublLine({ id: '3', quantity: '5', status: '3' }),
    ublLine({ id: '4', status: '2' }),
    ublLine({ id: '1001', status: '1' })
  ]
  t.equal((await send(shop, ublChange({ lines: changes }), key)).statusCode, 200)
  const unknown = await send(shop, ublChange({ sequence: '9', lines: [ublLine({ id: 'x', status: '3' })] }), key)
  t.match(
    [unknown.statusCode, ublAnswer(unknown).notes[0]],
    [422, /^line \d+, \/OrderChange\/cac:OrderLine.*item x: The order has no line x/]
  )
  t.same(parsed, [])
  const order = await shop.store.order(String(placed.headers['location']).split('/').at(-1) ?? '')
  t.equal(order.items.length, 1_000)
  t.match(order.items[2], { lineId: '3', quantity: '5' })
  t.match([order.items[3]?.lineId, order.items.at(-1)?.lineId], ['5', '1001'])
})

t.test('the serving thread does not parse a large cXML order', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const parsed = watchParses(t)
  const payload = cxmlOrder({ lines: Array.from({ length: 1_000 }, (_, i) => cxmlLine({ number: String(i + 1) })) })
  const placed = await send(shop, payload, key)
  t.match(cxmlAnswer(placed), ['200', /is placed/])
  t.equal((await send(shop, payload, key)).body, placed.body)
  t.same(parsed, [])
})

t.test('the answers about a large order have what the seller says of it, and the thread that serves parses it never', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const parsed = watchParses(t)
  const ubl = ublOrder({ number: 'U-1', lines: lines(1_000) })
  const cxml = cxmlOrder({ number: 'C-1', lines: Array.from({ length: 1_000 }, (_, i) => cxmlLine({ number: String(i + 1) })) })
  for (const payload of [ubl, cxml]) {
    const placed = await send(shop, payload, key)
    const url = String(placed.headers['location'])
    const order = await shop.store.order(url.split('/').at(-1) ?? '')
    const details = { expectedDeliveryDate: '2026-12-01', note: 'By boat.', items: [{ line: 7, note: 'Later.' }] }
    await shop.store.setOrderStatus(order.id, 'accepted', { version: order.version }, { details })
    const answer = await shop.app.inject({ url: `${url}/response`, headers: key })
    t.match(answer.body, /2026-12-01[\s\S]*By boat\.|By boat\.[\s\S]*2026-12-01/)
    t.match(answer.body, /Line 7: Later\./)
    if (payload === ubl) t.match((await send(shop, ubl, key)).body, /By boat\.[\s\S]*Line 7: Later\./)
    else t.match(cxmlAnswer(placed), ['200', /is placed: 1000 lines, total /])
  }
  t.same(parsed, [])
})

t.test('a large order with a wrong line is refused with that line', async (t) => {
  const shop = await build(t, { products })
  const wrong = [...lines(2_000), ublLine({ id: '2001', price: '9.49' })]
  const refused = await send(shop, ublOrder({ lines: wrong }))
  t.equal(refused.statusCode, 409)
  t.match(ublAnswer(refused).notes[0], /^line 18011, \/Order\/cac:OrderLine\[2001\]\/cac:LineItem\/cac:Price\/cbc:PriceAmount, item 2001: /)
  const all = await send(shop, ublOrder({ lines: Array.from({ length: 2_000 }, (_, i) => ublLine({ id: String(i), price: '1' })) }))
  t.equal(all.statusCode, 409)
  t.ok(all.rawPayload.length < 70_000, `${all.rawPayload.length} bytes`)
})

t.test('the document of an order costs as many requests as a body of its size', async (t) => {
  stopClock(t).followTimers()
  const shop = await build(t, { products, settings: { RATE_LIMIT: '6000' } })
  const key = await shop.key('acme', 'order')
  await shop.app.inject({ url: '/orders', headers: key })
  for (const [count, cost] of [
    [1, 1],
    [1_000, 10]
  ] as const) {
    const payload = ublOrder({ number: `PO-${count}`, lines: lines(count) })
    t.equal(Math.ceil(payload.length / 65_536), cost)
    const placed = await send(shop, payload, key)
    const document = await shop.app.inject({ url: `${placed.headers['location']}/document`, headers: key })
    t.equal(document.body, payload)
    t.equal(remaining(placed.headers) - remaining(document.headers), cost)
    const conditions = { 'if-none-match': String(document.headers['etag']) }
    const unchanged = await shop.app.inject({ url: `${placed.headers['location']}/document`, headers: { ...key, ...conditions } })
    t.same([unchanged.statusCode, remaining(document.headers) - remaining(unchanged.headers)], [304, 1], 'a 304 reads nothing of it')
  }
})

t.test('a new order with the number of a large cancelled one does not read that one', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  t.equal((await send(shop, ublOrder({ lines: lines(1_000) }), key)).statusCode, 201)
  t.equal((await send(shop, ublCancellation(), key)).statusCode, 200)
  const reads = countReads(shop.store, 'order')
  const again = await send(shop, ublOrder({ lines: lines(1) }), key)
  t.match([again.statusCode, ublAnswer(again).notes], [409, [/^.*The order of this number, .*, is cancelled/]])
  t.equal(reads(), 0)
})

t.test('a revision of an unknown order, under the number of a large one, does not read that one', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  t.equal((await send(shop, ublOrder({ number: 'PO-8', lines: lines(1_000) }), key)).statusCode, 201)
  const reads = countReads(shop.store, 'order')
  const header = '<cac:OrderDocumentReference><cbc:ID>PO-7#2026-11-20#ABC123#Revised</cbc:ID></cac:OrderDocumentReference>'
  const revised = await send(shop, ublOrder({ number: 'PO-8', header, lines: lines(1) }), key)
  t.match([revised.statusCode, ublAnswer(revised).notes], [422, [/You have no order with the number "PO-7"/]])
  t.equal(reads(), 0)
})

t.test('the answer to a large order has no lines where its client reads no answers', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  shop.app.makeRoomToSend = () => false
  const placed = await send(shop, ublOrder({ lines: lines(1_000) }), key)
  t.same([placed.statusCode, ublAnswer(placed).code], [201, 'AP'])
  t.notMatch(placed.body, /LineItem/)
  t.match(await shop.app.inject({ url: String(placed.headers['location']), headers: key }), { statusCode: 503, body: /still unread/ })
})

t.test('a client that resets while the answer to its large order is written is not logged as a fault', async (t) => {
  const logged: string[] = []
  const shop = await build(t, { products, logTo: { write: (line) => logged.push(line) } })
  const { documents } = shop.app
  const answer = documents.answer.bind(documents)
  t.teardown(() => Reflect.deleteProperty(documents, 'answer'))
  const wrote = new Promise<void>((resolve) => {
    documents.answer = async (payer, job) => {
      wire.abort()
      const { signal } = payer.sender()
      if (!signal.aborted) await once(signal, 'abort')
      try {
        return await answer(payer, job)
      } finally {
        setImmediate(resolve)
      }
    }
  })
  await listening(shop.app)
  const wire = await Wire.open(t, shop.app)
  wire.send(
    message('POST /order', { 'content-type': 'application/xml', ...(await shop.key('acme', 'order')) }, ublOrder({ lines: lines(1_000) }))
  )
  await wrote
  t.same(
    logged.filter((line) => JSON.parse(line).level > 30),
    []
  )
  t.equal((await shop.store.orders({ limit: 2 })).items.length, 1)
})

t.test('changes of lines, each as large as it may be, make no order larger than one document could', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const placed = await send(shop, ublOrder(), key)
  const notes = `<cbc:Note>${'x'.repeat(4_000)}</cbc:Note>`.repeat(100)
  const added = (id: string) => ublLine({ id, status: '1', more, item }).replace(`<cbc:ID>${id}</cbc:ID>`, `$&${notes}`)
  const change = (sequence: string) => ublChange({ sequence, lines: ['1', '2', '3', '4'].map((line) => added(`${sequence}${line}`)) })
  t.equal((await send(shop, change('1'), key)).statusCode, 200)
  const refused = await send(shop, change('2'), key)
  t.same([refused.statusCode, ublAnswer(refused).code], [422, 'RE'])
  t.match(ublAnswer(refused).notes.join('\n'), /would have 32\d{5} characters\. At most 2097152 are allowed/)
  const whole = await shop.app.inject({ url: String(placed.headers['location']), headers: { ...key, accept: 'application/xml' } })
  t.equal(whole.body.match(/<line-id>/g)?.length, 5)
})
