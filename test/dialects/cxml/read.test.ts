import t from 'tap'
import { isCxml } from '../../../dialects/cxml/read.ts'
import { buildPurchaseOrder } from '../../../dialects/purchase-order.ts'
import { cxmlPieces } from '../../../dialects/units.ts'
import { readElements } from '../../../dialects/xml-element.ts'
import type { Element } from '../../../schemas/element.ts'
import { guard } from '../../../xml/guard.ts'
import { processorTime } from '../../growth.ts'
import { codes, draftOf, envelope, line, order, plain, read, shipTo } from './documents.ts'

t.test('a document is cXML when its root is cXML without a namespace', async (t) => {
  const rootOf = (xml: string) => readElements(guard(Buffer.from(xml)))
  t.equal(isCxml(rootOf('<cXML/>')), true)
  for (const xml of ['<cxml/>', '<cXML xmlns="urn:x"/>', '<x:cXML xmlns:x="urn:x"/>', '<a><cXML/></a>']) t.equal(isCxml(rootOf(xml)), false)
})

const full = order({
  attributes:
    ' type="new" orderType="release" orderVersion="3" requisitionID="R-1" agreementID="A-1" shipComplete="yes" requestedDeliveryDate="2026-05-01T12:00:00+02:00"',
  header: `${shipTo('Dock 4', '<DeliverTo>Jo Doe</DeliverTo><DeliverTo> Room 2 </DeliverTo><Street>Gate B</Street>')}
    <BillTo><Address addressID="99"><Name xml:lang="en">Buyer SE</Name>
      <PostalAddress><Street>Main 1</Street><Street/><Street>Box 3</Street><Street>Wing C</Street><City>Bonn</City>
        <Municipality>North</Municipality><State/><PostalCode>53111</PostalCode><Country isoCountryCode=""/></PostalAddress>
      <Email/><Phone><TelephoneNumber><CountryCode isoCountryCode="DE">49</CountryCode><AreaOrCityCode>228</AreaOrCityCode><Number>12345</Number></TelephoneNumber></Phone>
    </Address></BillTo>
    <Payment><PCard number="4111111111111111" expiration="2030-01-01"/></Payment>
    <Contact role="endUser"><Name>End</Name></Contact>
    <Contact role="purchasingAgent"><Name>Pat Agent</Name><Email/><Email>pat@buyer.example</Email><Phone><TelephoneNumber><CountryCode>49</CountryCode><Number>+</Number></TelephoneNumber></Phone></Contact>
    <Comments xml:lang="en"> Ring twice <Attachment><URL name="plan.pdf">cid:77@buyer.example</URL></Attachment><Attachment><URL>cid:78</URL></Attachment></Comments>
    <Extrinsic name="Cost centre">4711</Extrinsic><Extrinsic name="nested"> <Extrinsic name="x">y</Extrinsic> </Extrinsic><Extrinsic name="${'n'.repeat(70)}">long</Extrinsic>`,
  items: line({
    attributes: 'lineNumber="00010" quantity="250.000" requestedDeliveryDate="2026-05-02"',
    id: '<SupplierPartID> BOLT-8 </SupplierPartID><SupplierPartAuxiliaryID>cfg-1</SupplierPartAuxiliaryID><BuyerPartID>B-1</BuyerPartID><IdReference domain="other" identifier="1"/><IdReference domain="EAN-13" identifier="4012345678901"/>',
    detail: `<PriceBasisQuantity quantity="1000" conversionFactor="2"><UnitOfMeasure>KGM</UnitOfMeasure></PriceBasisQuantity>
      <Classification domain="UNSPSC">31161500</Classification><ManufacturerPartID>M-1</ManufacturerPartID><ManufacturerName>Maker</ManufacturerName><Extrinsic name="Lot">7</Extrinsic>`,
    rest: '<Comments>Boxed</Comments><ScheduleLine quantity="250" requestedDeliveryDate="2026-05-02T10:00:00"/>'
  })
})

t.test('an order has what its OrderRequest says, as written', async (t) => {
  const document = read(full)
  t.same(document.faults, [])
  t.equal(document.request.kind, 'place')
  t.strictSame(plain(draftOf(document)), {
    orderNumber: 'PO-7',
    issueDate: '2026-04-20T23:30:00-07:00',
    currency: 'EUR',
    buyer: { name: 'Pat Agent', email: 'pat@buyer.example' },
    shipTo: {
      name: 'Plant North',
      contact: 'Jo Doe, Room 2',
      address: { street: 'Gate B', additionalStreet: 'Dock 4', city: 'Hamburg', postalCode: '20095', country: 'DE' }
    },
    billTo: {
      name: 'Buyer SE',
      phone: '49 228 12345',
      address: { street: 'Main 1', additionalStreet: 'Box 3, Wing C', city: 'Bonn', postalCode: '53111', region: 'North' }
    },
    requestedDeliveryDate: '2026-05-01T12:00:00+02:00',
    notes: ['Ring twice', 'Attachment: plan.pdf', 'Attachment: cid:78', 'Payment/PCard: to be paid by card'],
    extensions: [
      { name: 'payloadID', value: '1664.77@buyer.example' },
      { name: 'from', value: 'NetworkId:AN01-BUYER' },
      { name: 'to', value: 'DUNS:123456789' },
      { name: 'orderVersion', value: '3' },
      { name: 'requisitionID', value: 'R-1' },
      { name: 'agreementID', value: 'A-1' },
      { name: 'shipComplete', value: 'yes' },
      { name: 'ShipTo addressID', value: '12' },
      { name: 'BillTo addressID', value: '99' },
      { name: 'Cost centre', value: '4711' },
      { name: 'n'.repeat(70), value: 'long' }
    ],
    items: [
      {
        lineId: '00010',
        sellerId: 'BOLT-8',
        gtin: '4012345678901',
        quantity: '250.000',
        unit: 'EA',
        price: { amount: '9.50', base: '1000', factor: '2' },
        requestedDeliveryDate: '2026-05-02',
        notes: ['Boxed'],
        extensions: [
          { name: 'SupplierPartAuxiliaryID', value: 'cfg-1' },
          { name: 'BuyerPartID', value: 'B-1' },
          { name: 'ManufacturerPartID', value: 'M-1' },
          { name: 'ManufacturerName', value: 'Maker' },
          { name: 'Classification', value: 'UNSPSC:31161500' },
          { name: 'Description', value: 'Bolts' },
          { name: 'Lot', value: '7' }
        ]
      }
    ]
  })
})

t.test('a value knows the element and the attribute that it is from', async (t) => {
  const [item] = draftOf(read(full)).items
  t.match(item?.quantity, {
    from: { name: 'ItemOut', tag: { line: full.split('\n').findIndex((text) => text.includes('<ItemOut')) + 1 } },
    attribute: 'quantity'
  })
  t.match(item?.sellerId, { from: { name: 'SupplierPartID' }, attribute: undefined })
  t.match(item?.price?.factor, { from: { name: 'PriceBasisQuantity' }, attribute: 'conversionFactor' })
})

t.test('the smallest order has only its line', async (t) => {
  const xml = envelope(
    '<Request><OrderRequest><OrderRequestHeader orderID="1"/><ItemOut quantity="1"/><ItemOut quantity="2" lineNumber=" "/></OrderRequest></Request>'
  )
  const document = read(xml)
  t.same(document.faults, [])
  const { extensions: _envelope, ...order } = draftOf(document)
  t.same(plain(order), {
    orderNumber: '1',
    notes: [],
    items: [
      { lineId: '1', quantity: '1', notes: [], extensions: [] },
      { lineId: '2', quantity: '2', notes: [], extensions: [] }
    ]
  })
})

t.test('the buyer is the Contact with the closest role, else the name of the BillTo', async (t) => {
  const billTo = '<BillTo><Address><Name>Payer</Name><Email>a@b.example</Email></Address></BillTo>'
  const buyerOf = (header: string) => plain(draftOf(read(order({ header }))).buyer)
  t.same(buyerOf(billTo), { name: 'Payer' })
  t.same(buyerOf(`${billTo}<Contact role="supplierCorporate"><Name>We</Name></Contact>`), { name: 'Payer' })
  t.same(buyerOf('<Contact role="endUser"><Name>End</Name></Contact><Contact role="Buyer"><Name>Buy</Name></Contact>'), { name: 'Buy' })
  t.same(buyerOf(`${billTo}<Contact role="buyer"><Name/></Contact>`), { name: 'Payer' })
  t.equal(buyerOf(''), undefined)
})

t.test('a GTIN is read from an IdReference with its domain, else from the EANID', async (t) => {
  const gtinOf = (id: string, detail = '') => draftOf(read(order({ items: line({ id, detail }) }))).items[0]?.gtin?.text
  const industry = '<ItemDetailIndustry><ItemDetailRetail><EANID>4012345678901</EANID></ItemDetailRetail></ItemDetailIndustry>'
  for (const domain of ['EAN-13', 'ean13', 'GTIN', 'gtin-14']) t.equal(gtinOf(`<IdReference domain="${domain}" identifier="123"/>`), '123')
  t.equal(gtinOf('<IdReference domain="buyerID" identifier="123"/>'), undefined)
  t.equal(gtinOf('<IdReference domain="GTIN" identifier=""/>', industry), '4012345678901')
})

t.test('the type says whether an order is placed, replaced or cancelled', async (t) => {
  const requestOf = (attributes: string, header = '') => plain(read(order({ attributes, header })).request)
  t.match(requestOf(''), { kind: 'place' })
  t.match(requestOf(' type="new"'), { kind: 'place' })
  t.match(requestOf(' type="update" orderVersion="2"'), {
    kind: 'replace',
    number: 'PO-7',
    revision: '2',
    placesUnknown: true,
    order: { orderNumber: 'PO-7' }
  })
  t.match(requestOf(' type="change"'), { kind: 'replace', revision: undefined })
  t.same(requestOf(' type="delete" orderVersion="4"', '<Comments>Not needed</Comments>'), {
    kind: 'cancel',
    number: 'PO-7',
    revision: '4',
    reason: 'Not needed'
  })
  const empty = envelope(
    '<Request><OrderRequest><OrderRequestHeader orderID="1" type="delete" orderType="blanket"/></OrderRequest></Request>'
  )
  t.same(read(empty).faults, [], 'a cancelled order needs no lines')
})

t.test('a line that the buyer deletes is not ordered', async (t) => {
  const items = line({ attributes: 'lineNumber="1" quantity="1" operation="delete"' })
  const document = read(order({ attributes: ' type="update"', items: items + line({ attributes: 'quantity="1"' }) }))
  t.same(document.faults, [])
  t.same(
    draftOf(document).items.map(({ lineId }) => lineId?.text),
    ['2']
  )
  t.same(codes(read(order({ items }))), ['missing-value'])
})

t.test('a ProfileRequest asks what the shop takes', async (t) => {
  const document = read(envelope('<Request deploymentMode="test"><ProfileRequest/></Request>'))
  t.same(document.request, { kind: 'profile' })
  t.same(document.faults, [])
})

t.test('every other document is unsupported and named', async (t) => {
  for (const [content, detail, path] of [
    [
      '<Request><PunchOutSetupRequest/></Request>',
      /does not take PunchOutSetupRequest\. Send an OrderRequest/,
      '/cXML/Request/PunchOutSetupRequest'
    ],
    ['<Message><PunchOutOrderMessage/></Message>', /PunchOutOrderMessage/, '/cXML/Message/PunchOutOrderMessage'],
    ['<Response><Status code="200" text="OK"/></Response>', /does not take Response/, '/cXML/Response'],
    ['<Request><OrderRequest/><ProfileRequest/></Request>', /has 2 requests/, '/cXML/Request/ProfileRequest']
  ] as const) {
    const document = read(envelope(content))
    t.same(document.request, { kind: 'unsupported' })
    t.match(document.faults, [{ code: 'unsupported-document', detail, path }])
    t.equal(document.faults.length, 1)
  }
  for (const [content, detail, path] of [
    ['<Request/>', /Request is empty/, '/cXML/Request'],
    ['', /has no Request/, '/cXML']
  ] as const) {
    t.match(read(envelope(content)), { request: { kind: 'unsupported' }, faults: [{ code: 'missing-value', detail, path }] })
  }
})

t.test('the answer repeats who sent what', async (t) => {
  t.same(read(order()).answer, {
    vocabulary: 'cxml',
    payloadId: '1664.77@buyer.example',
    version: '1.2.045',
    orderNumber: 'PO-7',
    orderDate: '2026-04-20T23:30:00-07:00',
    from: { domain: 'NetworkId', identity: 'AN01-BUYER' },
    to: { domain: 'DUNS', identity: '123456789' }
  })
  const bare = readElements(guard(Buffer.from('<cXML/>')))
  t.equal(isCxml(bare), true)
  t.same(read('<cXML/>').answer, { vocabulary: 'cxml' })
  t.same(read('<cXML/>').sender, {})
})

t.test('the first Credential with a domain and an Identity is the party', async (t) => {
  const xml = order().replace(
    '<From>',
    '<From><Credential domain="x"><Identity/></Credential><Credential><Identity>y</Identity></Credential>'
  )
  t.match(read(xml).answer, { from: { domain: 'NetworkId', identity: 'AN01-BUYER' } })
})

t.test('the sender has the secret of the Sender alone', async (t) => {
  t.same(read(order()).sender, { sharedSecret: 'tp_0123456789abcdef' })
  t.same(read(order({ secret: '<SharedSecret> </SharedSecret>' })).sender, {})
  const second = '</Credential><Credential domain="b"><Identity>B</Identity><SharedSecret><![CDATA[ a&b ]]></SharedSecret>'
  t.same(read(order({ secret: second })).sender, { sharedSecret: 'a&b' })
  const elsewhere = order({ secret: '' }).replace('AN01-BUYER</Identity>', 'AN01-BUYER</Identity><SharedSecret>other</SharedSecret>')
  t.equal(read(elsewhere).sender?.sharedSecret, undefined)
})

t.test('a test is known by the deploymentMode, and an unknown mode is refused', async (t) => {
  for (const mode of ['test', 'Test', ' test ']) t.equal(read(order({ request: ` deploymentMode="${mode}"` })).isTest, true)
  const production = read(order({ request: ' deploymentMode="production"' }))
  t.same([production.isTest, production.faults], [undefined, []])
  t.match(read(order({ request: ' deploymentMode="staging"' })).faults, [{ code: 'invalid-value', path: '/cXML/Request/@deploymentMode' }])
})

t.test('an order and an item keep a hundred notes and a hundred extensions', async (t) => {
  const many = Array.from({ length: 120 }, (_, i) => `<Comments>c${i}</Comments><Extrinsic name="e${i}">v</Extrinsic>`).join('')
  const { root } = buildPurchaseOrder(draftOf(read(order({ header: many, items: line({ rest: many }) }))), { pieces: cxmlPieces })
  const count = (parent: Element | undefined, name: string) => parent?.children?.filter((child) => child.name === name).length
  for (const parent of [root, root.children?.at(-1)]) t.same([count(parent, 'note'), count(parent, 'extension')], [100, 100])
})

t.test('the time to read an order grows with the persons of its header and with its lines, not with their product', async (t) => {
  const persons = (count: number) => '<DeliverTo>Receiving</DeliverTo>'.repeat(count)
  const own = line({ rest: shipTo('Dock 1', '<DeliverTo>Ms Ray</DeliverTo>') })
  const time = (count: number) => {
    const xml = order({ header: shipTo('Dock 1', persons(16 * count)), items: own.repeat(count) })
    return processorTime(() => read(xml))
  }
  const [few, many] = [time(300), time(1_200)]
  t.ok(many < 8 * few, `${few} and ${many} ms`)
})
