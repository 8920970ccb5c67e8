import t from 'tap'
import { build } from '../build.ts'
import {
  cxmlAnswer,
  cxmlEnvelope,
  cxmlLine,
  cxmlOrder,
  doctype,
  onHand,
  orderCount,
  products,
  read,
  secretOf,
  send
} from './buyer-fixtures.ts'

const test = ' deploymentMode="test"'

t.test('a cXML order is placed: HTTP 200, Status 200, Location, the DOCTYPE as it was sent', async (t) => {
  const shop = await build(t, { products })
  const response = await send(shop, cxmlOrder(), { 'content-type': 'text/xml' })
  t.equal(response.statusCode, 200)
  t.equal(response.headers['content-type'], 'text/xml; charset=utf-8')
  t.match(response.headers['location'], /^\/order\/[0-9a-f-]{36}$/)
  t.match(response.headers['link'], 'rel="original"')
  t.match(response.body, doctype)
  const [code, text] = cxmlAnswer(response)
  t.equal(code, '200')
  t.match(text, /^Order [0-9a-f-]{36} is placed: 1 line, total 19\.00 EUR\. Its status is accepted\.$/)
  t.equal(await onHand(shop), '98')
})

t.test('the order made from cXML equals the one that the same order in the own vocabulary makes', async (t) => {
  const shop = await build(t, { products })
  const address = (name: string, street: string) =>
    `<Address isoCountryCode="DE"><Name xml:lang="de">${name}</Name><PostalAddress><DeliverTo>Ann</DeliverTo><Street>${street}</Street><City>Hamburg</City><PostalCode>20095</PostalCode><Country isoCountryCode="DE">Germany</Country></PostalAddress><Email/></Address>`
  const header = `<ShipTo>${address('Dock 4', 'Kai 2')}</ShipTo><BillTo>${address('Books', 'Weg 1')}</BillTo><Contact role="buyer"><Name xml:lang="de">ACME</Name><Email>a@acme.example</Email></Contact><Comments>gently</Comments>`
  const lines = [
    cxmlLine({ quantity: '2.0', unit: 'PCE' }),
    cxmlLine({ number: '2', product: 'PAINT-1', quantity: '0.5', unit: 'KG', price: '4' }),
    cxmlLine({
      number: '3',
      product: 'SCREW-3',
      quantity: '1000',
      unit: 'EA',
      price: '12.50',
      detail: '<PriceBasisQuantity quantity="1000" conversionFactor="1"><UnitOfMeasure>EA</UnitOfMeasure></PriceBasisQuantity>'
    })
  ]
  const own = (name: string, street: string) =>
    `<name>${name}</name><contact>Ann</contact><address><street>${street}</street><city>Hamburg</city><postal-code>20095</postal-code><country>DE</country></address>`
  const described = '<extension name="Description">Bolts</extension>'
  const written = `<purchase-order><order-number>PO-7</order-number><issue-date>2026-04-20</issue-date><currency>EUR</currency>
<buyer><name>ACME</name><email>a@acme.example</email></buyer><ship-to>${own('Dock 4', 'Kai 2')}</ship-to><bill-to>${own('Books', 'Weg 1')}</bill-to>
<requested-delivery-date>2026-05-02</requested-delivery-date><note>gently</note>
<item><line-id>1</line-id><product-id>BOLT-8</product-id><quantity>2</quantity>${described}</item>
<item><line-id>2</line-id><product-id>PAINT-1</product-id><quantity>0.5</quantity>${described}</item>
<item><line-id>3</line-id><product-id>SCREW-3</product-id><quantity>1000</quantity>${described}</item></purchase-order>`
  const attributes = ' requestedDeliveryDate="2026-05-02T12:00:00+02:00"'
  const [mapped, byHand] = [await send(shop, cxmlOrder({ header, attributes, lines })), await send(shop, written)]
  t.same(cxmlAnswer(mapped)[0], '200', mapped.body)
  t.equal(byHand.statusCode, 201, byHand.body)
  const [one, other] = [await read(shop, mapped.headers['location']), await read(shop, byHand.headers['location'])]
  for (const name of [
    'orderNumber',
    'issueDate',
    'currency',
    'buyer',
    'shipTo',
    'billTo',
    'requestedDeliveryDate',
    'note',
    'item',
    'total'
  ]) {
    t.ok(name in other, name)
    t.strictSame(one[name], other[name], name)
  }
})

t.test('the SharedSecret is the key: the order is that customer’s', async (t) => {
  const shop = await build(t, { products, settings: { GUEST_ORDERS: 'off' } })
  const [acme, alsoAcme, other, reader] = [
    await shop.key('acme', 'order'),
    await shop.key('acme', 'order'),
    await shop.key('other', 'order'),
    await shop.key('acme', 'catalogue')
  ]
  const place = (number: string, key?: { authorization: string }, headers = {}) =>
    send(shop, cxmlOrder({ number, payloadId: `${number}@b`, ...(key ? { secret: secretOf(key) } : {}) }), headers)
  t.match(cxmlAnswer(await place('K-1', acme)), ['200'])
  t.match((await shop.store.orders({ limit: 5 })).items, [{ customer: 'acme', orderNumber: 'K-1' }])
  t.match(cxmlAnswer(await place('K-2', acme, alsoAcme)), ['200'], 'both of one customer')
  t.match(cxmlAnswer(await place('K-3', acme, other)), ['401', /two customers/])
  t.match(cxmlAnswer(await place('K-4')), ['401', /API key/], 'none')
  t.match(cxmlAnswer(await place('K-5', undefined, acme)), ['200'], 'Authorization alone')
  t.match(cxmlAnswer(await place('K-6', reader)), ['403', /scope/])
  for (const secret of ['tp_0000', 'welcome', '%00']) {
    const response = await send(shop, cxmlOrder({ number: 'K-7', secret }), acme)
    t.equal(response.statusCode, 200)
    t.match(cxmlAnswer(response), ['401', /unknown, expired or revoked/], secret)
  }
  t.match(cxmlAnswer(await send(shop, cxmlOrder({ number: 'K-8', secret: '' }), acme)), ['200'], 'an empty one is none')
  const { items } = await shop.store.orders({ limit: 10 })
  t.same(items.map(({ orderNumber }) => orderNumber).sort(), ['K-1', 'K-2', 'K-5', 'K-8'])
})

t.test('a SharedSecret that has expired or was revoked is 401, also for what is malformed otherwise', async (t) => {
  const shop = await build(t, { products })
  const { hashKey } = await import('../../http/credentials.ts')
  await shop.store.createKey({ customer: 'acme', scopes: ['order'], hash: hashKey('tp_old'), expiresAt: Date.now() - 1 })
  const { id } = await shop.store.createKey({ customer: 'acme', scopes: ['order'], hash: hashKey('tp_gone') })
  await shop.store.revokeKey(id)
  for (const secret of ['tp_old', 'tp_gone']) {
    t.match(cxmlAnswer(await send(shop, cxmlOrder({ secret }))), ['401'], secret)
    t.match(cxmlAnswer(await send(shop, cxmlOrder({ secret, lines: [cxmlLine({ quantity: 'x' })] }))), ['401'], secret)
  }
  t.equal(await orderCount(shop), 0)
})

t.test('a test order is checked completely, but neither stored nor taken from stock, unless TEST_ORDERS is place', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const checked = await send(shop, cxmlOrder({ request: test }), key)
  t.same(cxmlAnswer(checked), ['200', 'Test order: checked, nothing was stored.'])
  t.notOk('location' in checked.headers)
  t.match((await send(shop, cxmlOrder({ request: test }), { ...key, accept: 'application/json' })).json(), { orderNumber: 'PO-7' })
  t.match(cxmlAnswer(await send(shop, cxmlOrder({ request: test, lines: [cxmlLine({ price: '9' })] }), key)), ['409', /costs 9.50/])
  t.match(cxmlAnswer(await send(shop, cxmlOrder({ request: test, lines: [cxmlLine({ quantity: '101' })] }), key)), ['409', /not enough/])
  t.match(cxmlAnswer(await send(shop, cxmlOrder({ request: ' deploymentMode="staging"' }), key)), ['400', /deploymentMode/])
  t.same([await orderCount(shop), await onHand(shop)], [0, '100'])
  t.match(cxmlAnswer(await send(shop, cxmlOrder(), key)), ['200', /is placed/], 'the same payloadID for real')
  for (const type of ['update', 'delete']) {
    const response = await send(
      shop,
      cxmlOrder({ request: test, attributes: ` type="${type}"`, lines: [cxmlLine({ quantity: '7' })] }),
      key
    )
    t.match(cxmlAnswer(response), ['200', /checked/], type)
  }
  t.match((await shop.store.orders({ limit: 5 })).items, [{ status: 'accepted', total: '19.00' }])
  t.equal(await onHand(shop), '98')
  const instance = await build(t, { products, settings: { TEST_ORDERS: 'place' } })
  t.match(cxmlAnswer(await send(instance, cxmlOrder({ request: test }))), ['200', /is placed/])
  t.equal(await orderCount(instance), 1)
})

t.test('the same bytes with the same payloadID get the stored answer, 50 times at once too, of a guest as well', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  for (const [headers, number] of [
    [key, 'G-1'],
    [{}, 'G-2']
  ] as const) {
    const payload = cxmlOrder({ number })
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(shop, payload, headers)))
    t.same(new Set(answers.map((answer) => cxmlAnswer(answer)[0])), new Set(['200']))
    t.equal(new Set(answers.map((answer) => answer.headers['location'])).size, 1)
    t.equal(new Set(answers.map((answer) => answer.body)).size, 1, 'the same to the byte')
    t.match(answers[0]?.body, /is placed:/)
    t.equal(answers.filter((answer) => 'idempotent-replayed' in answer.headers).length, 49)
  }
  t.equal(await orderCount(shop), 2)
  const constant = await send(shop, cxmlOrder({ number: 'G-3' }), key)
  t.match(cxmlAnswer(constant), ['200', /is placed:/], 'another document with the same payloadID is another document')
  const other = await send(shop, cxmlOrder({ number: 'G-3', payloadId: 'new@b', lines: [cxmlLine({ quantity: '3' })] }), key)
  t.match(cxmlAnswer(other), ['409', /You already have an order/], 'the order number decides the rest')
  const cancelled = await send(shop, cxmlOrder({ number: 'G-1', attributes: ' type="delete"' }), key)
  t.match(cxmlAnswer(cancelled), ['200', /is cancelled/])
  t.match(cxmlAnswer(await send(shop, cxmlOrder({ number: 'G-1' }), key)), ['200', /is placed:/], 'the stored answer, and no second order')
  t.equal(await orderCount(shop), 3)
})

t.test('an Idempotency-Key takes precedence over the payloadID: another document with the same key is refused', async (t) => {
  const shop = await build(t, { products })
  const headers = { 'idempotency-key': 'a-key-that-nobody-guesses' }
  const order = cxmlOrder({ number: 'G-1', payloadId: '1@b' })
  const [first, again] = [await send(shop, order, headers), await send(shop, order, headers)]
  t.match(cxmlAnswer(first), ['200', /is placed:/])
  t.same([again.body, again.headers['idempotent-replayed']], [first.body, 'true'])
  const other = await send(shop, cxmlOrder({ number: 'G-2', payloadId: '2@b' }), headers)
  t.match(cxmlAnswer(other), ['400', /Idempotency-Key/])
  t.equal(await orderCount(shop), 1)
})

t.test('a ProfileRequest is answered with what the shop takes, other requests with 450', async (t) => {
  const shop = await build(t, { products, settings: { BASE_URL: 'https://shop.example/trade' } })
  const ask = (content: string) =>
    shop.app.inject({ method: 'POST', url: '/trade/order', headers: { 'content-type': 'text/xml' }, payload: cxmlEnvelope(content) })
  const profile = await ask('<Request><ProfileRequest/></Request>')
  t.equal(profile.statusCode, 200)
  t.match(profile.body, /<Transaction requestName="OrderRequest">\s*<URL>https:\/\/shop\.example\/trade\/order<\/URL>/)
  for (const name of ['PunchOutSetupRequest', 'InvoiceDetailRequest', 'CopyRequest', 'MasterAgreementRequest']) {
    const response = await ask(`<Request><${name}/></Request>`)
    t.equal(response.statusCode, 200)
    t.match(cxmlAnswer(response), ['450', name])
  }
  t.match(cxmlAnswer(await ask('')), ['400', /no Request/])
  t.match(cxmlAnswer(await ask('<Message><PunchOutOrderMessage/></Message>')), ['450', /PunchOutOrderMessage/])
})

t.test(
  'another document about the same order has another answer; a change and a cancellation are answered again as they were',
  async (t) => {
    const shop = await build(t, { products })
    const key = await shop.key('acme', 'order')
    const answers = new Set<string>()
    for (const given of [
      { payloadId: '1@b' },
      { payloadId: '2@b' },
      { payloadId: '3@b', attributes: ' type="update"', lines: [cxmlLine({ quantity: '3' })] },
      { payloadId: '4@b', attributes: ' type="delete"' },
      { payloadId: '5@b', number: 'PO-8', attributes: ' type="update"' }
    ]) {
      const [first, again] = [await send(shop, cxmlOrder(given), key), await send(shop, cxmlOrder(given), key)]
      t.equal(cxmlAnswer(first)[0], '200', first.body)
      t.equal(again.body, first.body, given.payloadId)
      t.equal(again.headers['location'], first.headers['location'])
      t.equal(given.payloadId === '2@b', /was placed before/.test(first.body), 'an order that is sent again in another message')
      answers.add(/payloadID="([^"]+)"/.exec(first.body)?.[1] ?? '')
    }
    t.equal(answers.size, 5, 'no payloadID twice')
  }
)
