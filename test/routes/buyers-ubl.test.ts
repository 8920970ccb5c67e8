import t from 'tap'
import { build } from '../build.ts'
import { onHand, orderCount, products, read, send, ublAnswer, ublCancellation, ublChange, ublLine, ublOrder } from './buyer-fixtures.ts'

const endpoint = (name: string, id: string) =>
  `<cac:${name}><cac:Party><cbc:EndpointID schemeID="0088">${id}</cbc:EndpointID><cac:PartyLegalEntity><cbc:RegistrationName>${name} &amp; Co</cbc:RegistrationName></cac:PartyLegalEntity></cac:Party></cac:${name}>`
const parties = endpoint('BuyerCustomerParty', '7300010000001') + endpoint('SellerSupplierParty', '7300010000002')

t.test('a UBL Order is placed: 201, Location, links, an OrderResponse AP without lines', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const response = await send(shop, ublOrder({ header: `<cbc:CustomerReference>desk 4</cbc:CustomerReference>${parties}` }), key)
  t.equal(response.statusCode, 201, response.body)
  const location = String(response.headers['location'])
  t.match(location, /^\/order\/[0-9a-f-]{36}$/)
  t.equal(response.headers['content-location'], location)
  t.equal(response.headers['link'], `<${location}/document>; rel="original", <${location}/response>; rel="response"`)
  t.equal(response.headers['content-type'], 'application/xml; charset=utf-8')
  t.equal(response.headers['cache-control'], 'no-store')
  t.same(ublAnswer(response), { code: 'AP', notes: [] })
  t.match(response.body, `<cbc:SalesOrderID>${location.slice('/order/'.length)}</cbc:SalesOrderID>`)
  t.match(response.body, /<cac:OrderReference>\s*<cbc:ID>PO-7<\/cbc:ID>/)
  t.match(response.body, '<cbc:CustomerReference>desk 4</cbc:CustomerReference>')
  t.match(response.body, '<cbc:EndpointID schemeID="0088">7300010000001</cbc:EndpointID>')
  t.match(response.body, 'SellerSupplierParty &amp; Co')
  t.notMatch(response.body, 'OrderLine')
  t.notMatch(response.body, 'CustomizationID')
  t.equal(await onHand(shop), '98')
})

t.test('an order of a Peppol profile is answered in that profile', async (t) => {
  const shop = await build(t, { products })
  for (const [profile, answer] of [
    ['ordering:3', 'order_response:3'],
    ['advanced_ordering:3', 'order_response_advanced:3']
  ] as const) {
    const first = `<cbc:CustomizationID>urn:fdc:peppol.eu:poacc:trns:order:3</cbc:CustomizationID><cbc:ProfileID>urn:fdc:peppol.eu:poacc:bis:${profile}</cbc:ProfileID>`
    const { body } = await send(shop, ublOrder({ first }))
    t.match(body, `<cbc:CustomizationID>urn:fdc:peppol.eu:poacc:trns:${answer}</cbc:CustomizationID>`)
    t.match(body, `<cbc:ProfileID>urn:fdc:peppol.eu:poacc:bis:${profile}</cbc:ProfileID>`)
  }
})

t.test('an order that waits for the seller is answered AB', async (t) => {
  const shop = await build(t, { products, settings: { ACCEPTANCE: 'manual' } })
  t.same(ublAnswer(await send(shop, ublOrder())), { code: 'AB', notes: [] })
})

t.test('the same order again is answered 200 with the first one, and other content under its number 409', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const first = await send(shop, ublOrder(), key)
  const again = await send(shop, ublOrder(), key)
  t.equal(again.statusCode, 200)
  t.equal(again.headers['location'], first.headers['location'])
  t.equal(again.body, first.body)
  const other = await send(shop, ublOrder({ lines: [ublLine({ quantity: '3' })] }), key)
  t.equal(other.statusCode, 409)
  t.match(ublAnswer(other), { code: 'RE', notes: [/^line 4, \/Order\/cbc:ID: You already have an order with the number PO-7/] })
  t.equal(await onHand(shop), '98')
})

t.test('an order sent 50 times at once by a key makes one order', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(shop, ublOrder(), key)))
  t.same(
    answers
      .map(({ statusCode }) => statusCode)
      .sort()
      .slice(0, 49),
    Array(49).fill(200)
  )
  t.equal(new Set(answers.map(({ headers }) => headers['location'])).size, 1)
  t.equal(await orderCount(shop), 1)
  t.equal(await onHand(shop), '98')
})

const address = (street: string) =>
  `<cbc:StreetName>${street}</cbc:StreetName><cbc:CityName>Hamburg</cbc:CityName><cbc:PostalZone>20095</cbc:PostalZone><cac:Country><cbc:IdentificationCode>DE</cbc:IdentificationCode></cac:Country>`

t.test('the order made from UBL equals the one that the same order in the own vocabulary makes', async (t) => {
  const shop = await build(t, { products })
  const header = `<cbc:IssueDate>2026-11-20</cbc:IssueDate><cbc:Note>gently</cbc:Note><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
<cac:BuyerCustomerParty><cac:Party><cac:PartyName><cbc:Name>ACME &amp; Söhne</cbc:Name></cac:PartyName><cac:PostalAddress>${address('Weg 1')}</cac:PostalAddress>
<cac:PartyTaxScheme><cbc:CompanyID>DE1</cbc:CompanyID></cac:PartyTaxScheme><cac:Contact><cbc:Name>Ann</cbc:Name><cbc:Telephone>+49 30 1</cbc:Telephone><cbc:ElectronicMail>a@acme.example</cbc:ElectronicMail></cac:Contact></cac:Party></cac:BuyerCustomerParty>
<cac:AccountingCustomerParty><cac:Party><cac:PartyName><cbc:Name>Books</cbc:Name></cac:PartyName></cac:Party></cac:AccountingCustomerParty>
<cac:Delivery><cac:DeliveryLocation><cac:Address>${address('Kai 2')}</cac:Address></cac:DeliveryLocation><cac:RequestedDeliveryPeriod><cbc:EndDate>2026-12-01</cbc:EndDate></cac:RequestedDeliveryPeriod><cac:DeliveryParty><cac:PartyName><cbc:Name>Dock 4</cbc:Name></cac:PartyName></cac:DeliveryParty></cac:Delivery>`
  const lines = [
    ublLine({ quantity: '2.0000', unit: 'EA', price: '9.50000' }),
    ublLine({ id: '2', product: '', gtin: '04006381333931', quantity: '0.5', unit: 'KG', price: '4' }),
    ublLine({
      id: '3',
      product: 'SCREW-3',
      quantity: '1000',
      unit: 'NAR',
      price: '12.50',
      base: '<cbc:BaseQuantity>1000</cbc:BaseQuantity>'
    })
  ]
  const own = (street: string) =>
    `<address><street>${street}</street><city>Hamburg</city><postal-code>20095</postal-code><country>DE</country></address>`
  const written = `<purchase-order><order-number>PO-7</order-number><issue-date>2026-11-20</issue-date><currency>EUR</currency>
<buyer><name>ACME &amp; Söhne</name><contact>Ann</contact><email>a@acme.example</email><phone>+49 30 1</phone><tax-id>DE1</tax-id>${own('Weg 1')}</buyer>
<ship-to><name>Dock 4</name>${own('Kai 2')}</ship-to><bill-to><name>Books</name></bill-to><requested-delivery-date>2026-12-01</requested-delivery-date><note>gently</note>
<item><line-id>1</line-id><product-id>BOLT-8</product-id><quantity>2</quantity></item>
<item><line-id>2</line-id><gtin>4006381333931</gtin><quantity>0.5</quantity></item>
<item><line-id>3</line-id><product-id>SCREW-3</product-id><quantity>1000</quantity></item></purchase-order>`
  const [mapped, byHand] = [await send(shop, ublOrder({ header, lines })), await send(shop, written)]
  t.equal(mapped.statusCode, 201, mapped.body)
  t.equal(byHand.statusCode, 201, byHand.body)
  const [one, other] = [await read(shop, mapped.headers['location']), await read(shop, byHand.headers['location'])]
  const compared = ['orderNumber', 'issueDate', 'currency', 'buyer', 'shipTo', 'billTo', 'requestedDeliveryDate', 'note', 'item', 'total']
  for (const name of compared) {
    t.ok(name in other, name)
    t.strictSame(one[name], other[name], name)
  }
  t.equal(one.total.value, '33.50')
})

t.test('GTINs of 13 and 14 digits are one, a known GTIN serves beside an unknown id, and two known products are refused', async (t) => {
  const shop = await build(t, { products })
  for (const gtin of ['4006381333931', '04006381333931']) {
    const response = await send(shop, ublOrder({ lines: [ublLine({ product: 'OURS-1', gtin, unit: 'KGM', price: '' })] }))
    t.equal(response.statusCode, 201, response.body)
    const { item } = await read(shop, response.headers['location'])
    t.match(item, [{ productId: { value: 'PAINT-1' } }])
  }
  const two = await send(shop, ublOrder({ lines: [ublLine({ gtin: '4006381333931' })] }))
  t.equal(two.statusCode, 422)
  t.match(ublAnswer(two).notes[0], 'two products')
})

t.test('a line without a unit has the product’s', async (t) => {
  const shop = await build(t, { products })
  const lines = [ublLine({ product: 'PAINT-1', price: '' }).replace(' unitCode="C62"', '')]
  const response = await send(shop, ublOrder({ lines }))
  t.equal(response.statusCode, 201, response.body)
  t.match(await read(shop, response.headers['location']), { item: [{ quantity: { unit: 'KGM' } }] })
})

const copy = '<cbc:CopyIndicator>true</cbc:CopyIndicator>'

t.test('a copy is never placed: 200 with the order that stands, also after it was shipped, else 422', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const unknown = await send(shop, ublOrder({ header: copy }), key)
  t.equal(unknown.statusCode, 422)
  t.match(ublAnswer(unknown), { code: 'RE', notes: [/copy/] })
  t.equal((await send(shop, ublOrder({ header: copy }))).statusCode, 422, 'a guest has no numbers')
  t.equal(await orderCount(shop), 0)
  const lines = [ublLine(), ublLine({ id: '2', product: 'OURS-1', gtin: '4006381333931', unit: 'KGM', price: '' })]
  const placed = await send(shop, ublOrder({ lines }), key)
  const id = String(placed.headers['location']).slice('/order/'.length)
  for (const status of ['accepted', 'shipped', 'completed'] as const) {
    await shop.store.setOrderStatus(id, status, {})
    const again = await send(shop, ublOrder({ header: copy, lines }), key)
    t.equal(again.statusCode, 200, `${status}: ${again.body}`)
    t.equal(again.headers['location'], placed.headers['location'])
  }
  t.equal((await send(shop, ublOrder({ header: copy, lines: [ublLine({ quantity: '3' })] }), key)).statusCode, 422)
  t.equal(await orderCount(shop), 1)
})

const mark = (xml: string) => xml.replace('<Order ', '<?TestInstance ResponseTo="nobody"?>\n<Order ')

t.test('a document that is marked as a test is placed with TEST_ORDERS=place', async (t) => {
  const shop = await build(t, { products, settings: { TEST_ORDERS: 'place' } })
  const placed = await send(shop, mark(ublOrder()))
  t.equal(placed.statusCode, 201, placed.body)
  t.match(placed.headers['location'], /^\/order\//)
  t.same([await orderCount(shop), await onHand(shop)], [1, '98'])
})

t.test('a document that is marked as a test is checked and answered, but not stored', async (t) => {
  const shop = await build(t, { products })
  const checked = await send(shop, mark(ublOrder()))
  t.equal(checked.statusCode, 200, checked.body)
  t.match(ublAnswer(checked), { code: 'AP', notes: [/^Test order: checked, nothing was stored\.$/] })
  t.notMatch(checked.body, 'SalesOrderID')
  t.notOk('location' in checked.headers)
  const refused = await send(shop, mark(ublOrder({ lines: [ublLine({ price: '9' })] })))
  t.equal(refused.statusCode, 409)
  t.equal(await orderCount(shop), 0)
  t.equal(await onHand(shop), '100')
})

t.test('a document that is only checked is answered in JSON with the order as it would be', async (t) => {
  const shop = await build(t, { products })
  const key = { ...(await shop.key('acme', 'order')), accept: 'application/json' }
  const checked = await send(shop, mark(ublOrder()), key)
  t.match([checked.statusCode, checked.headers['content-type']], [200, 'application/json'])
  t.match(checked.json(), { orderNumber: 'PO-7', total: { value: '19.00' } })
  t.notOk('id' in checked.json(), 'it has no URI')
  t.equal((await send(shop, mark(ublOrder({ lines: [ublLine({ price: '9' })] })), key)).statusCode, 409)
  t.equal(await orderCount(shop), 0)
  await send(shop, ublOrder(), key)
  const changed = await send(
    shop,
    ublChange({ lines: [ublLine({ quantity: '3' })] }).replace('<OrderChange ', '<?TestInstance?><OrderChange '),
    key
  )
  t.match(changed.json(), { total: { value: '28.50' } }, 'a change')
  const cancelled = await send(shop, ublCancellation().replace('<OrderCancellation ', '<?TestInstance?><OrderCancellation '), key)
  t.match(cancelled.json(), { total: { value: '19.00' } }, 'a cancellation')
})

t.test('an order in the envelope of an access point is read', async (t) => {
  const shop = await build(t, { products })
  const content = ublOrder().replace(/^<\?xml.*\?>\n/, '')
  const envelope = `<sh:StandardBusinessDocument xmlns:sh="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader"><sh:StandardBusinessDocumentHeader><sh:HeaderVersion>1.0</sh:HeaderVersion></sh:StandardBusinessDocumentHeader>\n${content}</sh:StandardBusinessDocument>`
  const response = await send(shop, envelope)
  t.equal(response.statusCode, 201, response.body)
  const prefixed = ublOrder({ number: 'PO-8' }).replace('<Order xmlns=', '<ns0:Order xmlns:ns0=').replace('</Order>', '</ns0:Order>')
  t.equal((await send(shop, prefixed)).statusCode, 201)
})

t.test('with an Idempotency-Key the first answer comes again, its status too', async (t) => {
  const shop = await build(t, { products })
  const headers = { 'idempotency-key': 'a-key-that-nobody-guesses' }
  const [first, again] = [await send(shop, ublOrder(), headers), await send(shop, ublOrder(), headers)]
  t.same([again.statusCode, again.body, again.headers['location']], [201, first.body, first.headers['location']])
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.notOk('idempotent-replayed' in first.headers)
})
