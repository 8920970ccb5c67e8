import t from 'tap'
import { build } from '../build.ts'
import { cxmlAnswer, cxmlLine, cxmlOrder, onHand, orderCount, products, read, secretOf, send } from './buyer-fixtures.ts'

const as = (type: string, version?: string) => ` type="${type}"${version === undefined ? '' : ` orderVersion="${version}"`}`

t.test('an update replaces the order whole, and places one that is unknown', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const post = (attributes: string, quantity: string, payloadId = quantity) =>
    send(shop, cxmlOrder({ payloadId, secret: secretOf(key), attributes, lines: [cxmlLine({ quantity })] }))
  const placed = await post(as('update', '1'), '2')
  t.match(cxmlAnswer(placed), ['200', /is placed:/])
  const changed = await post(as('update', '2'), '5')
  t.match(cxmlAnswer(changed), ['200', /is changed: 1 line, total 47\.50 EUR/])
  t.equal(changed.headers['content-location'], placed.headers['location'])
  t.match(cxmlAnswer(await post(as('update', '2'), '5')), ['200', /is changed/], 'the same answer again')
  t.match(cxmlAnswer(await post(as('update', '2'), '6')), ['409', /higher version/])
  t.match(cxmlAnswer(await post(as('change', '3'), '4')), ['200', /is changed/], 'as SAP writes it')
  t.same([await orderCount(shop), await onHand(shop)], [1, '96'])
  const { item, orderNumber } = await read(shop, placed.headers['location'], key)
  t.match([orderNumber, item], ['PO-7', [{ quantity: { value: '4' } }]])
})

t.test('an update has all lines of the order, so it moves all or is refused', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const shipTo = (street: string) =>
    `<ShipTo><Address><Name>Works</Name><PostalAddress><Street>${street}</Street></PostalAddress></Address></ShipTo>`
  const post = (...streets: readonly string[]) => {
    const lines = streets.map((street, i) => cxmlLine({ number: String(i + 1), rest: shipTo(street) }))
    return send(shop, cxmlOrder({ attributes: as('update'), lines }), key)
  }
  const placed = await post('Dock 1', 'Dock 1')
  t.match(cxmlAnswer(placed), ['200', /is placed/])
  const address = async () => (await read(shop, placed.headers['location'], key)).shipTo.address
  t.match(cxmlAnswer(await post('Dock 1', 'Dock 2')), ['450', /item 2: The ShipTo is another address than that of line 1/])
  t.match(await address(), { street: 'Dock 1' })
  t.match(cxmlAnswer(await post('Dock 2', 'Dock 2')), ['200', /is changed/])
  t.match(await address(), { street: 'Dock 2' })
})

t.test('the version of a new order counts too: an update must be above it', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const post = (attributes: string, quantity: string) => send(shop, cxmlOrder({ attributes, lines: [cxmlLine({ quantity })] }), key)
  t.match(cxmlAnswer(await post(as('new', '3'), '2')), ['200'])
  t.match(cxmlAnswer(await post(as('update', '3'), '5')), ['409', /higher version/])
  t.match(cxmlAnswer(await post(as('update', '2'), '5')), ['409'])
  t.match(cxmlAnswer(await post(as('update', '4'), '5')), ['200'])
  t.match(cxmlAnswer(await post(as('delete', '3'), '5')), ['409', /higher version/], 'nor does an outdated one cancel')
  t.match(cxmlAnswer(await post(as('delete', '5'), '5')), ['200', /is cancelled/])
})

t.test('versions are compared to the last digit', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const post = (version: string, quantity: string) =>
    send(shop, cxmlOrder({ attributes: as('update', version), lines: [cxmlLine({ quantity })] }), key)
  t.match(cxmlAnswer(await post('123456789012345.000000000000001', '2')), ['200', /is placed/])
  t.match(cxmlAnswer(await post('123456789012345.000000000000002', '5')), ['200', /is changed/])
  t.match(cxmlAnswer(await post('123456789012345.000000000000001', '6')), ['409', /higher version/])
})

t.test('an update that is sent 50 times at once makes one order', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const payload = cxmlOrder({ attributes: as('update', '1') })
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(shop, payload, key)))
  t.same(new Set(answers.map((answer) => cxmlAnswer(answer)[0])), new Set(['200']))
  t.same([await orderCount(shop), await onHand(shop)], [1, '98'])
})

t.test('a delete cancels, and again; after shipping it is 409, unknown it is 400', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const post = (number: string, type: string) =>
    send(shop, cxmlOrder({ number, payloadId: `${number} ${type}`, attributes: as(type) }), key)
  for (const number of ['D-1', 'D-2']) t.match(cxmlAnswer(await post(number, 'new')), ['200'])
  for (const _ of [1, 2]) t.match(cxmlAnswer(await post('D-1', 'delete')), ['200', /is cancelled/])
  const shipped = await shop.store.orderHeadNumbered('acme', 'D-2')
  await shop.store.setOrderStatus(shipped?.id ?? '', 'shipped', {})
  t.match(cxmlAnswer(await post('D-2', 'delete')), ['409', /shipped/])
  t.match(cxmlAnswer(await post('D-2', 'update')), ['409', /shipped/])
  t.match(cxmlAnswer(await post('D-3', 'delete')), ['400', /You have no order with the number "D-3"/])
  t.equal(await onHand(shop), '98')
})

t.test('a guest who changes or cancels is Status 401', async (t) => {
  const shop = await build(t, { products })
  t.match(cxmlAnswer(await send(shop, cxmlOrder())), ['200'])
  for (const type of ['update', 'delete']) {
    const response = await send(shop, cxmlOrder({ attributes: as(type) }))
    t.equal(response.statusCode, 200)
    t.match(cxmlAnswer(response), ['401', /API key/], type)
  }
  t.match((await shop.store.orders({ limit: 5 })).items, [{ status: 'accepted' }])
})
