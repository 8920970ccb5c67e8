import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { build } from '../build.ts'
import {
  cxmlAnswer,
  cxmlOrder,
  orderCount,
  products,
  secretOf,
  send,
  ublAnswer,
  ublCancellation,
  ublChange,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'
import { hold } from './held-verb.ts'

t.test('an order number with white space in it names the order in a change and a cancellation', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  for (const number of ['PO  7', 'PO\n8', 'PO\t9', ' PO 10 ']) {
    const placed = await send(shop, ublOrder({ number, lines: [ublLine({ quantity: '1' })] }), key)
    t.equal(placed.statusCode, 201, placed.body)
    const changed = await send(shop, ublChange({ number, lines: [ublLine({ status: '3', quantity: '2' })] }), key)
    t.equal(changed.statusCode, 200, `${JSON.stringify(number)}: ${ublAnswer(changed).notes}`)
    t.equal((await send(shop, ublCancellation(number), key)).statusCode, 200, JSON.stringify(number))
  }
})

t.test('hostile UBL is refused like hostile XML of the shop’s own', async (t) => {
  const shop = await build(t, { products })
  const entity = ublOrder().replace('<Order', '<!DOCTYPE Order [<!ENTITY a "b">]><Order')
  const scopes = `${Array.from({ length: 65 }, (_, i) => `<cac:A${i} xmlns:p${i}="urn:${i}">`).join('')}${Array.from({ length: 65 }, (_, i) => `</cac:A${64 - i}>`).join('')}`
  for (const [title, payload, status] of [
    ['an entity', entity, 400],
    ['declarations in scope', ublOrder({ header: scopes }), 400],
    ['depth', ublOrder({ header: '<cac:A>'.repeat(200) + '</cac:A>'.repeat(200) }), 400],
    ['an undeclared prefix', ublOrder({ header: '<x:A/>' }), 400],
    ['a long text', ublOrder({ header: `<cbc:Note>${'x'.repeat(70_000)}</cbc:Note>` }), 400],
    ['UTF-16', Buffer.from(ublOrder(), 'utf16le'), 400],
    ['NUL', ublOrder({ header: '\0' }), 400],
    ['a declared encoding', ublOrder().replace('UTF-8', 'iso-8859-1'), 400]
  ] as const) {
    const response = await send(shop, payload)
    t.equal(response.statusCode, status, `${title}: ${response.body.slice(0, 400)}`)
  }
  t.equal(await orderCount(shop), 0)
  const attachment = `<cac:AdditionalDocumentReference><cbc:ID>1</cbc:ID><cac:Attachment><cbc:EmbeddedDocumentBinaryObject mimeCode="text/plain" filename="a.txt">${'QUJD'.repeat(300_000)}</cbc:EmbeddedDocumentBinaryObject></cac:Attachment></cac:AdditionalDocumentReference>`
  t.equal((await send(shop, ublOrder({ header: attachment }))).statusCode, 201, 'an attachment may be as long as a body')
  const many = Array.from({ length: 300 }, (_, i) => ublLine({ id: String(i), product: 'SCREW-3', price: '' }))
  t.equal((await send(shop, ublOrder({ number: 'PO-8', lines: many }))).statusCode, 201, '300 lines')
})

t.test('opposite writes at once leave the order in one of their states', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  await send(shop, ublOrder(), key)
  const writes = Array.from({ length: 20 }, (_, i) =>
    i % 5 === 4 ? ublCancellation() : ublChange({ lines: [ublLine({ status: '3', quantity: String(i + 1) })] })
  )
  const answers = await Promise.all(writes.map((payload) => send(shop, payload, key)))
  for (const { statusCode, body } of answers) t.ok([200, 409].includes(statusCode), body)
  const order = await shop.store.orderHeadNumbered('acme', 'PO-7')
  t.equal(order?.status, 'cancelled')
  t.equal((await shop.store.stock('BOLT-8')).onHand, '100')
})

t.test('a document that is said to be in US-ASCII is read if it is, and refused with the line if it is not', async (t) => {
  const shop = await build(t, { products })
  const ascii = { 'content-type': 'text/xml; charset="US-ASCII"' }
  const declared = (payload: string) => payload.replace('encoding="UTF-8"', 'encoding="us-ascii"')
  const own = (note = '') =>
    `<purchase-order>\n<note>${note}</note><item><product-id>BOLT-8</product-id><quantity>1</quantity></item></purchase-order>`
  for (const [payload, headers] of [
    [ublOrder(), ascii],
    [declared(ublOrder()), {}],
    [own('a'), ascii]
  ] as const)
    t.equal((await send(shop, payload, headers)).statusCode, 201)
  for (const [i, [payload, headers]] of (
    [
      [cxmlOrder(), ascii],
      [declared(cxmlOrder()), {}]
    ] as const
  ).entries())
    t.equal(cxmlAnswer(await send(shop, payload.replace('77.1', String(i)), headers))[0], '200')
  const count = await orderCount(shop)
  const header = '<cbc:Note>Gr\u00f6\u00dfe</cbc:Note>'
  for (const [payload, headers, line] of [
    [ublOrder({ header }), ascii, 5],
    [declared(ublOrder({ header })), {}, 5],
    [own('\u00e4'), ascii, 2]
  ] as const) {
    const refused = await send(shop, payload, { ...headers, accept: 'application/json' })
    t.match([refused.statusCode, refused.json()], [400, { errors: [{ line, detail: /US-ASCII/ }] }])
  }
  const comments = cxmlOrder({ header: '<Comments>\u00f6</Comments>' })
  for (const [payload, headers] of [
    [comments, ascii],
    [declared(comments), {}]
  ] as const) {
    const refused = await send(shop, payload, headers)
    t.match([refused.statusCode, ...cxmlAnswer(refused)], [200, '406', /^line 12: .*US-ASCII/])
  }
  t.equal((await send(shop, declared(`<?xml version="1.0" encoding="UTF-8"?>${own()}`))).statusCode, 400, 'as before')
  t.equal(await orderCount(shop), count)
})

t.test('a text is as long as its characters, also where JavaScript counts two for one', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const note = '😀'.repeat(4_000)
  const placed = await send(shop, ublOrder({ number: '🔩'.repeat(64), header: `<cbc:Note>${note}</cbc:Note>` }), key)
  t.equal(placed.statusCode, 201, placed.body.slice(0, 1_000))
  const { body } = await shop.app.inject({ url: String(placed.headers['location']), headers: { ...key, accept: 'application/xml' } })
  t.match(body, `<order-number>${'🔩'.repeat(64)}</order-number>`)
  t.match(body, `<note>${note}</note>`)
  const refused = await send(shop, ublOrder({ number: '🔩'.repeat(65) }), key)
  t.match([refused.statusCode, ublAnswer(refused).notes.join()], [422, /The number of the order has 65 characters; it can have 64/])
})

t.test('a document whose first request still runs gets no refusal of its vocabulary, which would be final', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  for (const [title, payload] of [
    ['UBL', ublOrder()],
    ['cXML', cxmlOrder({ number: 'PO-8', secret: secretOf(key) })]
  ] as const) {
    const headers = { ...key, 'idempotency-key': title }
    const { letGo, calls } = hold(shop, 'placeOrder', 1)
    const first = send(shop, payload, headers)
    while (calls() < 1) await turnOfTheLoop()
    const second = await send(shop, payload, headers)
    t.match([second.statusCode, second.headers['content-type'], second.body], [409, /problem/, 'idempotency-in-flight'], title)
    letGo()
    t.match((await first).statusCode, /20[01]/)
  }
})
