import t from 'tap'
import { buildPurchaseOrder } from '../../../dialects/purchase-order.ts'
import { isUbl } from '../../../dialects/ubl/read.ts'
import { ublPieces } from '../../../dialects/units.ts'
import type { Element } from '../../../schemas/element.ts'
import { document, draft, elements, enveloped, faults, line, order, price, read, texts } from './documents.ts'

const identification = (id: string, scheme?: string) =>
  `<cac:PartyIdentification><cbc:ID${scheme ? ` schemeID="${scheme}"` : ''}>${id}</cbc:ID></cac:PartyIdentification>`
const named = (name: string) => `<cac:PartyName><cbc:Name>${name}</cbc:Name></cac:PartyName>`
const buyer = (content: string) => `<cac:BuyerCustomerParty><cac:Party>${content}</cac:Party></cac:BuyerCustomerParty>`
const seller = (content: string) => `<cac:SellerSupplierParty><cac:Party>${content}</cac:Party></cac:SellerSupplierParty>`
const address = (name: string, city: string) =>
  `<cac:${name}><cbc:StreetName>Quay</cbc:StreetName><cbc:CityName>${city}</cbc:CityName><cac:Country><cbc:IdentificationCode>NL</cbc:IdentificationCode></cac:Country></cac:${name}>`

t.test('a document is recognised by the expanded name of its root, whatever the prefix', async (t) => {
  for (const name of ['Order', 'OrderChange', 'OrderCancellation']) t.ok(isUbl(elements(document(name, ''))), name)
  t.ok(isUbl(elements('<ns0:Order xmlns:ns0="urn:oasis:names:specification:ubl:schema:xsd:Order-2"/>')))
  t.notOk(isUbl(elements('<Order/>')))
  t.notOk(isUbl(elements('<Order xmlns="urn:oasis:names:draft:ubl:schema:Order-1.0"/>')))
  t.notOk(isUbl(elements('<Order xmlns="urn:oasis:names:specification:ubl:schema:xsd:OrderChange-2"/>')))
  t.notOk(isUbl(elements(document('OrderResponse', ''))))
  t.notOk(isUbl(elements('<toString/>')))
})

t.test('an envelope around exactly one document is opened', async (t) => {
  t.ok(isUbl(elements(enveloped(order()))))
  t.notOk(isUbl(elements(enveloped())))
  t.notOk(isUbl(elements(enveloped(order(), order()))))
  t.notOk(isUbl(elements(enveloped(order(), '<other xmlns="urn:other"/>'))))
  t.notOk(isUbl(elements(enveloped(document('Invoice', '')))))
  const { orderNumber } = draft(enveloped(order()))
  t.equal(orderNumber?.text, 'PO-7')
  t.equal(orderNumber?.from.tag.line, 2, 'lines are those of the whole document')
})

t.test('a root that is not of UBL is an error of the caller', async (t) => {
  t.throws(() => read('<purchase-order/>'), /not one of UBL/)
})

t.test('the header, the parties and the dates are mapped', async (t) => {
  const header = `
    <cbc:CustomizationID>urn:fdc:peppol.eu:poacc:trns:order:3</cbc:CustomizationID>
    <cbc:ProfileID>urn:fdc:peppol.eu:poacc:bis:ordering:3</cbc:ProfileID>
    <cbc:IssueDate> 2026-11-20 </cbc:IssueDate><cbc:IssueTime>09:30:00</cbc:IssueTime>
    <cbc:OrderTypeCode>220</cbc:OrderTypeCode>
    <cbc:Note>Ring the bell</cbc:Note><cbc:Note/><cbc:Note>twice</cbc:Note>
    <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
    <cbc:CustomerReference>desk 4</cbc:CustomerReference><cbc:AccountingCost>4711</cbc:AccountingCost>
    <cac:ValidityPeriod><cbc:EndDate>2026-12-31</cbc:EndDate></cac:ValidityPeriod>
    <cac:OrderDocumentReference><cbc:ID>PO-6</cbc:ID></cac:OrderDocumentReference>
    <cac:Contract><cbc:ID>C-1</cbc:ID></cac:Contract>
    ${buyer(`<cbc:EndpointID schemeID="0088">7300010000001</cbc:EndpointID>${identification('12', '0106')}${identification('13')}${named('Harbour Works')}
      <cac:PostalAddress><cbc:StreetName>Quay</cbc:StreetName><cbc:AdditionalStreetName>Shed 2</cbc:AdditionalStreetName><cbc:BuildingNumber>5</cbc:BuildingNumber>
        <cbc:CityName>Rotterdam</cbc:CityName><cbc:PostalZone>3011</cbc:PostalZone><cbc:CountrySubentity>ZH</cbc:CountrySubentity>
        <cac:AddressLine><cbc:Line>Gate C</cbc:Line></cac:AddressLine><cac:Country><cbc:IdentificationCode>NL</cbc:IdentificationCode></cac:Country></cac:PostalAddress>
      <cac:PartyTaxScheme><cbc:CompanyID>NL001</cbc:CompanyID></cac:PartyTaxScheme>
      <cac:PartyLegalEntity><cbc:RegistrationName>Harbour Works BV</cbc:RegistrationName><cbc:CompanyID>24</cbc:CompanyID></cac:PartyLegalEntity>
      <cac:Contact><cbc:Name>Mies</cbc:Name><cbc:Telephone>010</cbc:Telephone><cbc:ElectronicMail>mies@example.com</cbc:ElectronicMail></cac:Contact>`)}
    ${seller(`<cbc:EndpointID schemeID="0106">99</cbc:EndpointID>${named('Tradepost')}`)}
    <cac:OriginatorCustomerParty><cac:Party>${named('Dock 3')}<cac:Contact><cbc:Name>Jan</cbc:Name></cac:Contact></cac:Party></cac:OriginatorCustomerParty>
    <cac:AccountingCustomerParty><cac:Party><cac:PartyLegalEntity><cbc:RegistrationName>Harbour Finance</cbc:RegistrationName><cbc:CompanyID>25</cbc:CompanyID></cac:PartyLegalEntity></cac:Party></cac:AccountingCustomerParty>
    <cac:Delivery><cac:DeliveryLocation><cbc:ID schemeID="0088">55</cbc:ID><cbc:Name>South dock</cbc:Name>${address('Address', 'Delft')}</cac:DeliveryLocation>
      <cac:RequestedDeliveryPeriod><cbc:StartDate>2026-12-01</cbc:StartDate><cbc:EndDate>2026-12-04</cbc:EndDate></cac:RequestedDeliveryPeriod></cac:Delivery>
    <cac:DeliveryTerms><cbc:ID>DAP</cbc:ID><cbc:SpecialTerms>by boat</cbc:SpecialTerms></cac:DeliveryTerms>
    <cac:PaymentTerms><cbc:Note>30 days</cbc:Note></cac:PaymentTerms>`
  t.strictSame(read(order(header)).faults, [])
  t.strictSame(texts({ ...draft(order(header)), items: [] }), {
    orderNumber: 'PO-7',
    issueDate: '2026-11-20',
    currency: 'EUR',
    buyer: {
      name: 'Harbour Works',
      contact: 'Mies',
      email: 'mies@example.com',
      phone: '010',
      taxId: 'NL001',
      address: { street: 'Quay 5', additionalStreet: 'Shed 2, Gate C', city: 'Rotterdam', postalCode: '3011', region: 'ZH', country: 'NL' }
    },
    shipTo: { name: 'South dock', address: { street: 'Quay', city: 'Delft', country: 'NL' } },
    billTo: { name: 'Harbour Finance', taxId: '25' },
    requestedDeliveryDate: '2026-12-04',
    notes: ['Ring the bell', 'twice'],
    extensions: [
      { name: 'CustomizationID', value: 'urn:fdc:peppol.eu:poacc:trns:order:3' },
      { name: 'ProfileID', value: 'urn:fdc:peppol.eu:poacc:bis:ordering:3' },
      { name: 'IssueTime', value: '09:30:00' },
      { name: 'OrderTypeCode', value: '220' },
      { name: 'CustomerReference', value: 'desk 4' },
      { name: 'buyer-endpoint', value: '0088:7300010000001' },
      { name: 'buyer-identification', value: '0106:12' },
      { name: 'buyer-identification', value: '13' },
      { name: 'seller-endpoint', value: '0106:99' },
      { name: 'AccountingCost', value: '4711' },
      { name: 'ValidityPeriod', value: '2026-12-31' },
      { name: 'OrderDocumentReference', value: 'PO-6' },
      { name: 'Contract', value: 'C-1' },
      { name: 'PaymentTerms', value: '30 days' },
      { name: 'DeliveryTerms', value: 'DAP, by boat' },
      { name: 'OriginatorCustomerParty', value: 'Dock 3, Jan' },
      { name: 'RequestedDeliveryPeriod', value: 'from 2026-12-01 to 2026-12-04' },
      { name: 'DeliveryLocation', value: '0088:55' }
    ],
    items: []
  })
  t.strictSame(read(order(header)).answer, {
    vocabulary: 'ubl',
    document: 'Order',
    profile: 'ordering',
    orderNumber: 'PO-7',
    customerReference: 'desk 4',
    seller: { endpoint: { id: '99', scheme: '0106' }, identifications: [], registrationName: 'Tradepost' },
    buyer: {
      endpoint: { id: '7300010000001', scheme: '0088' },
      identifications: [{ id: '12', scheme: '0106' }, { id: '13' }],
      registrationName: 'Harbour Works BV'
    }
  })
})

t.test('a line is mapped, with what the shop has no word for as extensions', async (t) => {
  const lines = `<cac:OrderLine><cbc:Note>blue</cbc:Note><cac:LineItem><cbc:ID>010</cbc:ID><cbc:Note>not red</cbc:Note>
    <cbc:Quantity unitCode="KGM">2.500</cbc:Quantity><cbc:PartialDeliveryIndicator>false</cbc:PartialDeliveryIndicator><cbc:AccountingCost>12</cbc:AccountingCost>
    <cac:Delivery><cac:RequestedDeliveryPeriod><cbc:StartDate>2026-12-01</cbc:StartDate></cac:RequestedDeliveryPeriod></cac:Delivery>
    <cac:OriginatorParty>${identification('E1', '0082')}</cac:OriginatorParty>
    <cac:Price><cbc:PriceAmount currencyID="EUR">999.00</cbc:PriceAmount><cbc:BaseQuantity unitCode="GRM">100</cbc:BaseQuantity><cbc:OrderableUnitFactorRate>1000</cbc:OrderableUnitFactorRate>
      <cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator><cbc:Amount currencyID="EUR">1</cbc:Amount></cac:AllowanceCharge></cac:Price>
    <cac:Item><cbc:Description>Rope, tarred</cbc:Description><cbc:Name>Rope</cbc:Name>
      <cac:BuyersItemIdentification><cbc:ID>B1</cbc:ID></cac:BuyersItemIdentification><cac:SellersItemIdentification><cbc:ID>n/a</cbc:ID></cac:SellersItemIdentification>
      <cac:ManufacturersItemIdentification><cbc:ID>M1</cbc:ID></cac:ManufacturersItemIdentification>
      <cac:StandardItemIdentification><cbc:ID schemeID="0160">04006381333931</cbc:ID></cac:StandardItemIdentification>
      <cac:CommodityClassification><cbc:ItemClassificationCode listID="STI">31151500</cbc:ItemClassificationCode></cac:CommodityClassification>
      <cac:AdditionalItemProperty><cbc:Name>Length</cbc:Name><cbc:Value>30 m</cbc:Value></cac:AdditionalItemProperty>
      <cac:ItemInstance><cbc:SerialID>S1</cbc:SerialID><cac:LotIdentification><cbc:LotNumberID>L1</cbc:LotNumberID></cac:LotIdentification></cac:ItemInstance>
    </cac:Item></cac:LineItem></cac:OrderLine>`
  t.strictSame(read(order('', lines)).faults, [])
  t.strictSame(texts(draft(order('', lines)).items), [
    {
      lineId: '010',
      sellerId: 'n/a',
      gtin: '04006381333931',
      quantity: '2.500',
      unit: 'KGM',
      price: { amount: '999.00', base: '100', baseUnit: 'GRM', factor: '1000' },
      requestedDeliveryDate: '2026-12-01',
      notes: ['blue', 'not red'],
      extensions: [
        { name: 'Name', value: 'Rope' },
        { name: 'Description', value: 'Rope, tarred' },
        { name: 'BuyersItemIdentification', value: 'B1' },
        { name: 'ManufacturersItemIdentification', value: 'M1' },
        { name: 'AccountingCost', value: '12' },
        { name: 'PartialDeliveryIndicator', value: 'false' },
        { name: 'OriginatorParty', value: '0082:E1' },
        { name: 'CommodityClassification', value: 'STI:31151500' },
        { name: 'ItemInstance', value: 'serial number S1, lot L1' },
        { name: 'AdditionalItemProperty', value: 'Length: 30 m' }
      ]
    }
  ])
})

t.test('a standard identifier is a GTIN by its scheme, or by its digits if it has no scheme', async (t) => {
  const gtin = (id: string, scheme?: string, name = 'StandardItemIdentification') => {
    const item = `<cac:${name}><cbc:ID${scheme ? ` schemeID="${scheme}"` : ''}>${id}</cbc:ID></cac:${name}>`
    return draft(order('', line('1', '', item))).items[0]?.gtin?.text
  }
  for (const scheme of ['0160', 'GTIN', 'EAN13']) t.equal(gtin('4006381333931', scheme), '4006381333931', scheme)
  for (const id of ['40063813', '4006381333931', '04006381333931']) t.equal(gtin(id), id)
  for (const id of ['4006381', '004006381333931', 'A006381333931']) t.equal(gtin(id), undefined, id)
  t.equal(gtin('4006381333931', '0088'), undefined, 'a GLN has as many digits')
  t.equal(gtin('4006381333931', 'GTIN', 'SellersItemIdentification'), '4006381333931', 'Danish buyers write it there')
  t.equal(gtin('4006381333931', undefined, 'SellersItemIdentification'), undefined)
})

t.test('without a currency code the currency is that of the first price', async (t) => {
  const currency = (header: string) => draft(order(header, line('1', price('9.99', 'SEK')))).currency?.text
  t.equal(currency(''), 'SEK')
  t.equal(currency('<cbc:PricingCurrencyCode>NOK</cbc:PricingCurrencyCode>'), 'NOK')
  const both = '<cbc:DocumentCurrencyCode>DKK</cbc:DocumentCurrencyCode><cbc:PricingCurrencyCode>NOK</cbc:PricingCurrencyCode>'
  t.equal(currency(both), 'DKK')
})

t.test('attachments, charges and a payment by card are noted, by the names of their elements', async (t) => {
  const attachment = (more: string) => `<cac:AdditionalDocumentReference><cbc:ID>D1</cbc:ID>${more}</cac:AdditionalDocumentReference>`
  const file =
    '<cac:Attachment><cbc:EmbeddedDocumentBinaryObject mimeCode="text/csv" filename="hours.csv">YQ==</cbc:EmbeddedDocumentBinaryObject></cac:Attachment>'
  const card =
    '<cac:PaymentMeans><cac:CardAccount><cbc:PrimaryAccountNumberID>4111111111111111</cbc:PrimaryAccountNumberID></cac:CardAccount></cac:PaymentMeans>'
  const charge =
    '<cac:AllowanceCharge><cbc:ChargeIndicator>true</cbc:ChargeIndicator><cbc:AllowanceChargeReason>Freight</cbc:AllowanceChargeReason><cbc:Amount currencyID="EUR">12.00</cbc:Amount></cac:AllowanceCharge>'
  const { notes, items } = draft(
    order(attachment('<cbc:DocumentType>Drawing</cbc:DocumentType>') + attachment(file) + card + charge, line('1', charge))
  )
  const offered = 'AllowanceCharge: Freight, 12.00 EUR. The buyer offers this charge; the shop does not bill it.'
  t.strictSame(texts(notes), [
    'CardAccount: the buyer wants to pay by card.',
    'AdditionalDocumentReference: attachment D1 (Drawing)',
    'AdditionalDocumentReference: attachment hours.csv (text/csv)',
    offered
  ])
  t.strictSame(texts(items[0]?.notes), [offered])
})

t.test('an order keeps 100 notes and 100 extensions, and so does an item', async (t) => {
  const property = '<cac:AdditionalItemProperty><cbc:Name>a</cbc:Name><cbc:Value>b</cbc:Value></cac:AdditionalItemProperty>'
  const xml = order(
    '<cbc:Note>a</cbc:Note>'.repeat(120) + '<cac:Contract><cbc:ID>1</cbc:ID></cac:Contract>'.repeat(120),
    line('1', '<cbc:Note>a</cbc:Note>'.repeat(120), property.repeat(120))
  )
  const { root } = buildPurchaseOrder(draft(xml), { pieces: ublPieces })
  const count = (parent: Element | undefined, name: string) => parent?.children?.filter((child) => child.name === name).length
  for (const parent of [root, root.children?.at(-1)]) t.same([count(parent, 'note'), count(parent, 'extension')], [100, 100])
})

t.test('the answer follows the profile of Peppol 3, and of nothing else', async (t) => {
  const profile = (customization: string, id: string, name = 'Order') => {
    const { answer } = read(
      document(name, `<cbc:CustomizationID>${customization}</cbc:CustomizationID><cbc:ProfileID>${id}</cbc:ProfileID>`)
    )
    return 'profile' in answer ? answer.profile : undefined
  }
  const [trns, bis] = ['urn:fdc:peppol.eu:poacc:trns:', 'urn:fdc:peppol.eu:poacc:bis:']
  t.equal(profile(`${trns}order:3`, `${bis}ordering:3`), 'ordering')
  t.equal(profile(`${trns}order:3:restrictive:urn:example`, `${bis}ordering:3`), 'ordering')
  t.equal(profile(`${trns}order:3`, `${bis}advanced_ordering:3`), 'advanced')
  t.equal(profile(`${trns}order_change:3`, `${bis}advanced_ordering:3`, 'OrderChange'), 'advanced')
  t.equal(profile(`${trns}order:3`, `${bis}order_only:3`), undefined)
  t.equal(profile(`${trns}order:30`, `${bis}ordering:3`), undefined)
  t.equal(profile('OIOUBL-2.02', `${bis}ordering:3`), undefined)
  t.equal(profile(`${trns}order:3`, 'constructor'), undefined)
})

t.test('names and identifiers that are too long are not repeated', async (t) => {
  const { answer } = read(order(buyer(named('a'.repeat(300)) + identification('12')) + seller('')))
  t.strictSame(answer, { vocabulary: 'ubl', document: 'Order', orderNumber: 'PO-7', buyer: { identifications: [{ id: '12' }] } })
})

t.test('a document that OIOUBL marks as a test says so', async (t) => {
  const mark = '<?TestInstance ResponseTo="smtp:test@example.com"?>'
  t.equal(read(mark + order()).isTest, true)
  t.equal(read(order(mark)).isTest, true)
  t.equal(read(`<!--${mark}-->${order()}`).isTest, undefined)
  t.equal(read(order(`<cbc:Note><![CDATA[${mark}]]></cbc:Note>`)).isTest, undefined)
  // The comment begins with its first four characters, and does not end within them.
  t.equal(read(`<!--> ${mark} -->${order()}`).isTest, undefined)
  t.equal(read(`<?TestInstanceOf nothing?>${order()}`).isTest, undefined)
})

t.test('2,000 lines are read whole', async (t) => {
  const lines = Array.from({ length: 2000 }, (_, i) => line(String(i + 1), price('9.99'))).join('\n')
  // The guard of purchase orders bounds the names with a prefix, so the prefixes are left out.
  const plain = order('', lines).replace(/(<\/?)c[ab]c:/g, '$1')
  t.strictSame(faults(plain), [])
  t.equal(draft(plain).items.length, 2000)
})
