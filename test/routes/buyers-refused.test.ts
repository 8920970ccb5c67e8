import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, type Shop } from '../build.ts'
import {
  cxmlAnswer,
  cxmlLine,
  cxmlOrder,
  onHand,
  orderCount,
  products,
  send,
  ublAllowance,
  ublAnswer,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'

const lineItem = '/Order/cac:OrderLine/cac:LineItem'
const line = 'line 5, '

async function nothingStored(t: Parameters<typeof build>[0], shop: Shop): Promise<void> {
  t.equal(await orderCount(shop), 0)
  t.equal(await onHand(shop), '100')
}

t.test('one wrong thing in a UBL Order is refused with its line, path and item, and stores nothing', async (t) => {
  const shop = await build(t, { products })
  for (const [title, wrong, status, reason] of [
    [
      'price',
      { price: '9.49' },
      409,
      `line 11, ${lineItem}/cac:Price/cbc:PriceAmount, item 1: BOLT-8 costs 9.50 EUR, not the expected 9.49.`
    ],
    ['rounded price', { price: '9.499' }, 409, 'line 11, '],
    ['price of another base', { base: '<cbc:BaseQuantity unitCode="C62">10</cbc:BaseQuantity>' }, 409, 'line 11, '],
    ['base of zero', { base: '<cbc:BaseQuantity>0</cbc:BaseQuantity>' }, 422, `line 11, ${lineItem}/cac:Price/cbc:BaseQuantity, item 1: `],
    [
      'base in another unit',
      { base: '<cbc:BaseQuantity unitCode="BX">1</cbc:BaseQuantity>' },
      422,
      `line 11, ${lineItem}/cac:Price/cbc:BaseQuantity, item 1: `
    ],
    ['negative price', { price: '-9.50' }, 422, `line 11, ${lineItem}/cac:Price/cbc:PriceAmount, item 1: `],
    ['unit', { unit: 'BX' }, 422, `line 9, ${lineItem}/cbc:Quantity, item 1: BOLT-8 is sold by the unit C62, not BX.`],
    ['quantity of zero', { quantity: '0' }, 422, `line 9, ${lineItem}/cbc:Quantity, item 1: `],
    ['negative quantity', { quantity: '-1' }, 422, `line 9, ${lineItem}/cbc:Quantity, item 1: `],
    ['divided piece', { quantity: '1.5' }, 422, `line 9, ${lineItem}/cbc:Quantity, item 1: `],
    ['no quantity', { quantity: '' }, 422, `line 7, ${lineItem}, item 1: The line has no Quantity.`],
    ['stock', { quantity: '101' }, 409, `line 9, ${lineItem}/cbc:Quantity, item 1: There is not enough of BOLT-8`],
    ['currency of a price', { currency: 'USD' }, 422, `line 11, ${lineItem}/cac:Price/cbc:PriceAmount`],
    ['id', { product: 'NUT-9' }, 422, `line 12, ${lineItem}/cac:Item/cac:SellersItemIdentification/cbc:ID, item 1: There is no product`],
    ['free text', { product: '' }, 422, `line 7, ${lineItem}, item 1: The line names no product`],
    [
      'free text as an id',
      { product: 'n/a' },
      422,
      `line 12, ${lineItem}/cac:Item/cac:SellersItemIdentification/cbc:ID, item 1: The line names no product`
    ]
  ] as const) {
    const response = await send(shop, ublOrder({ lines: [ublLine(wrong)] }))
    t.equal(response.statusCode, status, `${title}: ${response.body}`)
    const { code, notes } = ublAnswer(response)
    t.equal(code, 'RE', title)
    t.equal(notes.length, 1, `${title}: one Note`)
    t.ok(notes[0]?.startsWith(reason), `${title}: ${notes[0]}`)
    t.notOk('location' in response.headers)
  }
  await nothingStored(t, shop)
})

const header = (content: string) => ublOrder({ header: content })
const delivery = (street: string) =>
  `<cac:Delivery><cac:DeliveryLocation><cac:Address><cbc:StreetName>${street}</cbc:StreetName></cac:Address></cac:DeliveryLocation></cac:Delivery>`

t.test('elements that would change the terms of the order are refused by name', async (t) => {
  const shop = await build(t, { products })
  for (const [title, payload, status, reason] of [
    ['allowance', header(ublAllowance), 409, `${line}/Order/cac:AllowanceCharge: `],
    ['allowance of a line', ublOrder({ lines: [ublLine({ more: ublAllowance })] }), 409, 'item 1: '],
    ['two currencies', ublOrder({ lines: [ublLine(), ublLine({ id: '2', currency: 'USD' })] }), 422, 'one currency'],
    [
      'currency of the order',
      header('<cbc:DocumentCurrencyCode>USD</cbc:DocumentCurrencyCode>'),
      422,
      `${line}/Order/cbc:DocumentCurrencyCode`
    ],
    ['two addresses', header(delivery('Kai 1') + delivery('Kai 2')), 422, 'one address'],
    ['an address of a line', ublOrder({ header: delivery('Kai 1'), lines: [ublLine({ more: delivery('Kai 2') })] }), 422, 'item 1: '],
    ['another type', header('<cbc:OrderTypeCode>348</cbc:OrderTypeCode>'), 422, `${line}/Order/cbc:OrderTypeCode: `],
    ['an item set', ublOrder({ lines: [ublLine({ more: '<cac:SubLineItem/>' })] }), 422, 'item 1: '],
    ['a repeated line id', ublOrder({ lines: [ublLine(), ublLine()] }), 422, 'item 1: '],
    ['no order number', ublOrder().replace('<cbc:ID>PO-7</cbc:ID>', ''), 422, '/Order: The order has no ID'],
    ['no line', ublOrder({ lines: [] }), 422, 'OrderLine']
  ] as const) {
    const response = await send(shop, payload)
    t.equal(response.statusCode, status, `${title}: ${response.body}`)
    t.match(ublAnswer(response), { code: 'RE' }, title)
    t.ok(ublAnswer(response).notes[0]?.includes(reason), `${title}: ${ublAnswer(response).notes[0]}`)
  }
  for (const code of ['105', '220', '221', '226', '227', '402']) {
    const payload = ublOrder({
      number: `T-${code}`,
      header: `<cbc:OrderTypeCode>${code}</cbc:OrderTypeCode>`,
      lines: [ublLine({ quantity: '1' })]
    })
    t.equal((await send(shop, payload)).statusCode, 201, code)
  }
})

t.test('a refusal lists everything that is wrong, in the order of the document, and what can never succeed decides', async (t) => {
  const shop = await build(t, { products })
  const wrong = [
    ublLine({ id: '10', price: '9' }),
    ublLine({ id: '20', unit: 'BX' }),
    ublLine({ id: '30', product: 'NUT-9' }),
    ublLine({ id: '40', quantity: '1000', price: '' }),
    ublLine({ id: '50', currency: 'USD' }),
    ublLine({ id: '60', product: '' })
  ]
  const response = await send(shop, ublOrder({ header: ublAllowance, lines: wrong }))
  t.equal(response.statusCode, 422)
  const [note = '', ...others] = ublAnswer(response).notes
  t.same(others, [])
  const reasons = note.split('\n')
  const lines = reasons.map((reason) => Number(/^line (\d+), \//.exec(reason)?.[1]))
  t.same(
    lines,
    lines.toSorted((a, b) => a - b)
  )
  const named = reasons.map((reason) => /, item (\d+): /.exec(reason)?.[1])
  for (const item of ['10', '20', '30', '40', '50', '60']) t.ok(named.includes(item), `${item} in ${named}`)
  for (const words of ['allowance', 'costs 9.50', 'unit C62, not BX', 'NUT-9', 'not enough', 'one currency', 'free text'])
    t.match(note, words)
  await nothingStored(t, shop)
})

t.test('a single fault of a cXML order is listed under the sender’s line number', async (t) => {
  const shop = await build(t, { products })
  const item = '/cXML/Request/OrderRequest/ItemOut'
  for (const [title, wrong, code, reason] of [
    ['price', { price: '9.49' }, '409', `${item}/ItemDetail/UnitPrice/Money, item 00010: BOLT-8 costs 9.50 EUR, not the expected 9.49.`],
    ['unit', { unit: 'DZN' }, '400', 'item 00010: BOLT-8 is sold by the unit C62, not DZN.'],
    ['quantity', { quantity: '0' }, '400', `${item}/@quantity, item 00010: `],
    ['stock', { quantity: '250.000' }, '409', `${item}/@quantity, item 00010: There is not enough of BOLT-8`],
    ['id', { product: 'NUT-9' }, '400', `${item}/ItemID/SupplierPartID, item 00010: There is no product`],
    ['free text', { product: 'Non Catalog Item' }, '400', `${item}/ItemID/SupplierPartID, item 00010: The line names no product`],
    ['currency', { currency: 'USD' }, '400', 'USD'],
    ['set', { attributes: ' itemType="composite"' }, '450', `${item}/@itemType, item 00010: `],
    ['part', { attributes: ' parentLineNumber="1"' }, '450', 'item 00010: '],
    [
      'release',
      { detail: '', rest: '<ReleaseInfo releaseType="forecast" cumulativeScheduledQuantity="9"/>' },
      '450',
      `${item}/ReleaseInfo, item 00010: `
    ],
    ['blanket', { rest: '<BlanketItemDetail/>' }, '450', `${item}/BlanketItemDetail, item 00010: `]
  ] as const) {
    const response = await send(shop, cxmlOrder({ lines: [cxmlLine({ number: '00010', ...wrong })] }))
    t.equal(response.statusCode, 200, title)
    const [status, text] = cxmlAnswer(response)
    t.equal(status, code, `${title}: ${text}`)
    t.match(text, /^line \d+, \//, title)
    t.ok(text.includes(reason), `${title}: ${text}`)
  }
  for (const orderType of ['blanket', 'stockTransport', 'stockTransportRelease']) {
    const [status, text] = cxmlAnswer(await send(shop, cxmlOrder({ attributes: ` orderType="${orderType}"` })))
    t.equal(status, '450', `${orderType}: ${text}`)
  }
  const both = cxmlOrder({ lines: [cxmlLine({ number: '1', price: '9' }), cxmlLine({ number: '1', product: 'NUT-9' })] })
  const [status, text] = cxmlAnswer(await send(shop, both))
  t.equal(status, '400')
  t.equal(text.split('\n').length, 2)
  await nothingStored(t, shop)
})

t.test('prices hold when they equal the shop’s, rounded half up to the decimals that are given', async (t) => {
  const shop = await build(t, { products: { 'BOLT-8': { price: decimal('0.125'), onHand: decimal('100000') } } })
  let count = 0
  const place = (price: string, base = '') =>
    send(
      shop,
      ublOrder({
        number: `P-${count++}`,
        lines: [ublLine({ price, base: base && `<cbc:BaseQuantity unitCode="EA">${base}</cbc:BaseQuantity>` })]
      })
    )
  for (const [price, base, status] of [
    ['0.125', '', 201],
    ['0.12500', '', 201],
    ['.125', '', 201],
    ['0.13', '', 201],
    ['0.12', '', 409],
    ['0.130', '', 409],
    ['12.5', '100', 201],
    ['12.50', '100.000', 201],
    ['125', '1000', 201],
    ['124.99', '1000', 409]
  ] as const) {
    t.equal((await place(price, base)).statusCode, status, `${price} for ${base || 1}`)
  }
})
