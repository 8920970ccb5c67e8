import t from 'tap'
import { document, faults, line, order, price, read, request } from './documents.ts'

const allowance = (indicator: string, amount: string, more = '') =>
  `<cac:AllowanceCharge><cbc:ChargeIndicator>${indicator}</cbc:ChargeIndicator>${more}<cbc:Amount currencyID="EUR">${amount}</cbc:Amount></cac:AllowanceCharge>`
const delivery = (city: string, more = '') =>
  `<cac:Delivery><cac:DeliveryLocation><cac:Address><cbc:CityName>${city}</cbc:CityName></cac:Address></cac:DeliveryLocation>${more}</cac:Delivery>`
const until = (date: string) => `<cac:RequestedDeliveryPeriod><cbc:EndDate>${date}</cbc:EndDate></cac:RequestedDeliveryPeriod>`
const located = (id: string) => `<cac:Delivery><cac:DeliveryLocation><cbc:ID>${id}</cbc:ID></cac:DeliveryLocation></cac:Delivery>`
const buyerIn = (city: string) =>
  `<cac:BuyerCustomerParty><cac:Party><cac:PostalAddress><cbc:CityName>${city}</cbc:CityName></cac:PostalAddress></cac:Party></cac:BuyerCustomerParty>`

t.test('a valid document has no faults', async (t) => t.strictSame(faults(order()), []))

t.test('a fault says what is wrong and what to do, with line, path and number of the order line', async (t) => {
  t.strictSame(
    read(order('', line('20', allowance('false', '5.00', '<cbc:AllowanceChargeReason>Loyalty</cbc:AllowanceChargeReason>')))).faults,
    [
      {
        code: 'allowance-not-agreed',
        detail:
          'The order expects an allowance of 5.00 EUR (Loyalty), which this shop does not give. Send the order without this AllowanceCharge.',
        line: 4,
        path: '/Order/cac:OrderLine/cac:LineItem/cac:AllowanceCharge',
        item: '20'
      }
    ]
  )
})

t.test('allowances are refused in the header and in lines', async (t) => {
  t.strictSame(faults(order(allowance('false', '5'), line('1', allowance('0', '5')))), [
    'allowance-not-agreed 3 Order/AllowanceCharge',
    'allowance-not-agreed 4 LineItem/AllowanceCharge 1'
  ])
  t.strictSame(faults(order(allowance('true', '-5'))), ['allowance-not-agreed 3 Order/AllowanceCharge'], 'a negative charge is one')
  t.strictSame(faults(order(allowance('', '5'))), ['allowance-not-agreed 3 Order/AllowanceCharge'], 'so is one that does not say')
  t.strictSame(faults(order(allowance('true', '5'))), [], 'a charge is not')
  t.strictSame(faults(order(allowance('false', '0.00'))), [], 'nothing off is not')
  t.strictSame(faults(order(allowance('false', '0', '<cbc:MultiplierFactorNumeric>5</cbc:MultiplierFactorNumeric>'))).length, 1)
  t.strictSame(faults(order('', line('1', price('9', 'EUR', allowance('false', '5'))))), [], 'a PriceAmount is net of those in its Price')
})

t.test('all prices are in the currency of the document (rule R003 of Peppol)', async (t) => {
  const lines = line('1', price('9', 'EUR')) + line('2', price('9', 'SEK'))
  const code = (name: string, currency: string) => `<cbc:${name}CurrencyCode>${currency}</cbc:${name}CurrencyCode>`
  t.strictSame(faults(order(code('Document', 'EUR'), lines)), ['two-currencies 4 Price/PriceAmount 2'])
  t.strictSame(faults(order(code('Pricing', 'SEK'), lines)), ['two-currencies 4 Price/PriceAmount 1'])
  t.strictSame(faults(order('', lines)), ['two-currencies 4 Price/PriceAmount 2'])
  t.strictSame(faults(order(code('Document', 'eur'), line('1', price('9', 'EUR')))), [])
})

t.test('an order goes to one address, that of its lines included', async (t) => {
  t.strictSame(faults(order(delivery('Delft'), line('1', delivery('DELFT ')))), [])
  t.strictSame(faults(order(delivery('Delft'), line('1', delivery('Gouda')))), ['several-addresses 4 DeliveryLocation/Address 1'])
  t.strictSame(faults(order('', line('1', delivery('Delft')) + line('2', delivery('Gouda')))), [
    'several-addresses 4 DeliveryLocation/Address 2'
  ])
  t.strictSame(faults(order(delivery('Delft') + delivery('Gouda'))), ['several-addresses 3 DeliveryLocation/Address'])
  const twofold =
    '<cac:Delivery><cac:DeliveryAddress><cbc:CityName>Delft</cbc:CityName></cac:DeliveryAddress><cac:DeliveryLocation><cac:Address><cbc:CityName>Gouda</cbc:CityName></cac:Address></cac:DeliveryLocation></cac:Delivery>'
  t.strictSame(faults(order(twofold)), ['several-addresses 3 Delivery/DeliveryAddress'])
})

t.test('locations without an address differ by their identifiers', async (t) => {
  t.strictSame(faults(order(located('1'), line('1', located('1')))), [])
  t.strictSame(faults(order(located('1'), line('1', located('2')))), ['several-addresses 4 Delivery/DeliveryLocation 1'])
  t.strictSame(faults(order(delivery('Delft'), line('1', located('2')))), ['several-addresses 4 Delivery/DeliveryLocation 1'])
})

t.test('a location without an address is at the address that another Delivery gives it, in any order', async (t) => {
  const both = (id: string, city: string) =>
    `<cac:Delivery><cac:DeliveryLocation><cbc:ID>${id}</cbc:ID><cac:Address><cbc:CityName>${city}</cbc:CityName></cac:Address></cac:DeliveryLocation></cac:Delivery>`
  const lines = [located('7'), delivery('Delft'), both('7', 'DELFT')].map((content, i) => line(String(i + 1), content))
  t.strictSame(faults(order('', lines.join(''))), [])
  t.strictSame(faults(order('', lines.toReversed().join(''))), [])
  t.strictSame(faults(order('', lines.slice(0, 2).join('\n'))), ['several-addresses 4 Delivery/DeliveryLocation 1'])
})

t.test('lines without an address go to the buyer, which is another address', async (t) => {
  const lines = line('1', delivery('Gouda')) + line('2')
  t.strictSame(faults(order(buyerIn('Delft'), lines)), ['several-addresses 4 DeliveryLocation/Address 1'])
  t.strictSame(faults(order(buyerIn('Gouda'), lines)), [])
  t.strictSame(faults(order(buyerIn('Delft') + delivery('Gouda'), lines)), [])
})

const to = (name: string) =>
  `<cac:Delivery><cac:DeliveryParty><cac:PartyName><cbc:Name>${name}</cbc:Name></cac:PartyName></cac:DeliveryParty></cac:Delivery>`
const at = (place: string) => `<cac:Delivery><cac:DeliveryLocation><cbc:Name>${place}</cbc:Name></cac:DeliveryLocation></cac:Delivery>`

t.test('an order goes to one recipient, that of its lines included', async (t) => {
  t.strictSame(faults(order(to('A') + to('B'))), ['several-addresses 3 PartyName/Name'])
  t.strictSame(faults(order(to('A') + to('A'))), [])
  t.strictSame(faults(order('', `${line('1', to('A'))}\n${line('2', to('B'))}`)), ['several-addresses 5 PartyName/Name 2'])
  t.strictSame(faults(order(to('A'), `${line('1', to('B'))}\n${line('2')}\n${line('3', to('A'))}\n${line('4', to('C'))}`)), [
    'several-addresses 4 PartyName/Name 1',
    'several-addresses 7 PartyName/Name 4'
  ])
  t.strictSame(faults(order(to('ACME  Works') + to('Acme Works'), line('1', to('acme\nworks')))), [], 'as in addresses')
  t.match(read(order('', line('1', to('A')) + line('2', to('B')))).faults[0]?.detail, /differs from that of line 1\./)
  t.match(read(order(to('A'), line('2', to('B')))).faults[0]?.detail, /differs from that of the order\./)
})

t.test('the place at the address of a line is no other recipient', async (t) => {
  t.strictSame(faults(order(delivery('Delft') + to('A'), line('1', at('Dock 1')) + line('2', at('Dock 2')))), [])
  t.strictSame(faults(order(at('Warehouse'), line('1', to('A')) + line('2', to('A')))), [])
  t.strictSame(faults(order(at('Dock 1') + at('Dock 2'))), ['several-addresses 3 DeliveryLocation/Name'], 'that of the order is')
  t.strictSame(faults(order(at('Dock 1') + to('A') + at('Dock 2'))), [], 'unless a party is')
})

t.test('the lines that an OrderChange deletes have no recipient', async (t) => {
  const status = (code: number) => `<cbc:LineStatusCode>${code}</cbc:LineStatusCode>`
  const change = (code: number) =>
    document(
      'OrderChange',
      `<cac:OrderReference><cbc:ID>PO-7</cbc:ID></cac:OrderReference>${line('1', status(3) + to('A'))}${line('2', status(code) + to('B'))}`
    )
  t.strictSame(faults(change(3)), ['several-addresses 2 PartyName/Name 2'])
  t.strictSame(faults(change(2)), [])
})

t.test('an order and its lines are each delivered on one date', async (t) => {
  const dates = delivery('Delft', until('2026-12-01')) + delivery('Delft', until('2026-12-02'))
  t.strictSame(faults(order(dates)), ['invalid-value 3 RequestedDeliveryPeriod/EndDate'])
  t.strictSame(faults(order('', line('1', dates))), ['invalid-value 4 RequestedDeliveryPeriod/EndDate 1'])
  t.strictSame(faults(order('', line('1', delivery('Delft', until('2026-12-01'))) + line('2', delivery('Delft', until('2026-12-02'))))), [])
})

t.test('the type of an order is 220 or one that Peppol treats alike', async (t) => {
  const type = (code: string) => faults(order(`<cbc:OrderTypeCode>${code}</cbc:OrderTypeCode>`))
  for (const code of ['105', '220', '221', '226', '227', '402', '']) t.strictSame(type(code), [], code)
  for (const code of ['348', '22', 'order']) t.strictSame(type(code), ['unknown-order-type 3 Order/OrderTypeCode'], code)
})

t.test('an order balance orders nothing', async (t) => {
  const xml = order('<cbc:CustomizationID>urn:peppol:pint:imda.gov.sg:trns:order_balance:1</cbc:CustomizationID>', line() + line())
  t.strictSame(faults(xml), ['unsupported-document 3 Order/CustomizationID'])
  t.equal(read(xml).request.kind, 'unsupported')
})

t.test('an order without a required element is refused', async (t) => {
  t.strictSame(faults(document('Order', `<cbc:ID/>${line()}`)), ['missing-value 2 Order/ID'])
  t.strictSame(faults(document('Order', line())), ['missing-value 1 /Order'])
  t.strictSame(faults(order('', ' ')), ['missing-value 1 /Order'])
  t.strictSame(faults(order('', line(''))), ['missing-value 4 LineItem/ID'])
  t.strictSame(faults(order('', '<cac:OrderLine><cac:LineItem/></cac:OrderLine>')), [
    'missing-value 4 OrderLine/LineItem',
    'missing-value 4 OrderLine/LineItem'
  ])
  t.match(faults(order('', '<cac:OrderLine/>'))[0], /^missing-value 4 Order\/OrderLine/)
  t.strictSame(faults(order('', line('1', '<cac:Price><cbc:PriceAmount/></cac:Price>'))), ['missing-value 4 LineItem/Price 1'])
  t.strictSame(faults(order('', line().replace(/<cbc:Quantity.*Quantity>/, ''))), ['missing-value 4 OrderLine/LineItem 1'])
})

t.test('the number of a line occurs once (rule R001 of Peppol)', async (t) => {
  t.strictSame(faults(order('', `${line('1')}\n${line('01')}\n${line(' 1 ')}`)), ['repeated-line-id 6 LineItem/ID 1'])
})

t.test('if there are two values where UBL has one, neither is used', async (t) => {
  t.strictSame(faults(order('<cbc:ID>PO-8</cbc:ID>')), ['invalid-value 3 Order/ID[2]'])
  t.strictSame(faults(order('', line('1', '<cbc:Quantity>3</cbc:Quantity>'))), ['invalid-value 4 LineItem/Quantity[2] 1'])
  t.strictSame(faults(order('', line('1', price('9') + price('8')))), ['invalid-value 4 LineItem/Price[2] 1'])
  t.strictSame(faults(order('', line().replace('</cac:OrderLine>', '<cac:LineItem/></cac:OrderLine>'))), [
    'invalid-value 4 OrderLine/LineItem[2]'
  ])
})

t.test('the lines of a set are not ordered', async (t) => {
  t.strictSame(faults(order('', line('1', '<cac:SubLineItem/>'))), ['item-set 4 LineItem/SubLineItem 1'])
})

t.test('a copy is read as one, and CopyIndicator is true or false', async (t) => {
  const copy = (text: string) => order(`<cbc:CopyIndicator>${text}</cbc:CopyIndicator>`)
  for (const text of ['true', '1', 'TRUE']) t.equal(request(copy(text), 'place').copies, true, text)
  for (const text of ['false', '0', '']) t.equal(request(copy(text), 'place').copies, undefined, text)
  t.strictSame(faults(copy('true')), [])
  t.strictSame(faults(copy('yes')), ['invalid-value 3 Order/CopyIndicator'])
})

t.test('100 faults are listed, in the order of the document', async (t) => {
  const lines = Array.from({ length: 120 }, (_, i) => line(String(i), allowance('false', '5'))).join('\n')
  const found = read(order(allowance('false', '5'), lines)).faults
  t.equal(found.length, 100)
  t.strictSame(
    found,
    found.toSorted((a, b) => a.line - b.line)
  )
})
