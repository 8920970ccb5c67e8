import t from 'tap'
import { draft, line, order, texts } from './documents.ts'

const named = (name: string) => `<cac:PartyName><cbc:Name>${name}</cbc:Name></cac:PartyName>`
const buyer = (content: string) => `<cac:BuyerCustomerParty><cac:Party>${content}</cac:Party></cac:BuyerCustomerParty>`
const address = (name: string, city: string) => `<cac:${name}><cbc:CityName>${city}</cbc:CityName></cac:${name}>`

t.test('an address that all lines have is the address of the order', async (t) => {
  const delivery = (city: string) => `<cac:Delivery>${address('DeliveryAddress', city)}</cac:Delivery>`
  const shipTo = (xml: string) => texts(draft(xml).shipTo)
  t.strictSame(shipTo(order('', line('1', delivery('Delft')) + line('2', delivery('Delft')))), {
    address: { city: 'Delft' }
  })
  const party = `<cac:Delivery><cac:DeliveryParty>${named('Dock 3')}</cac:DeliveryParty></cac:Delivery>`
  t.strictSame(shipTo(order(party)), { name: 'Dock 3' }, 'without an address that of the buyer holds')
  t.equal(draft(order(buyer(address('PostalAddress', 'Delft')))).shipTo, undefined)
  const date = '<cac:Delivery><cbc:RequestedDeliveryDate>2026-12-01</cbc:RequestedDeliveryDate></cac:Delivery>'
  t.equal(draft(order(date)).requestedDeliveryDate?.text, '2026-12-01')
})

t.test('a line keeps its recipient, and its place at the address of the order', async (t) => {
  const location = (name: string, more = '') =>
    `<cac:DeliveryLocation><cbc:ID schemeID="0088">55</cbc:ID><cbc:Name>${name}</cbc:Name>${more}</cac:DeliveryLocation>`
  const contact = (name: string) => `<cac:Contact><cbc:Name>${name}</cbc:Name></cac:Contact>`
  const own = `<cac:Delivery>${location('Harbour', address('Address', 'Delft'))}<cac:DeliveryParty>${named('ACME')}</cac:DeliveryParty></cac:Delivery>`
  const ofLine = `<cac:Delivery>${location('Dock A')}<cac:DeliveryParty>${named('Acme')}${contact('Mies')}</cac:DeliveryParty></cac:Delivery>`
  const { shipTo, extensions, items } = draft(order(own, line('1', ofLine) + line('2')))
  t.strictSame(texts(shipTo), { name: 'ACME', address: { city: 'Delft' } })
  t.strictSame(texts(extensions), [
    { name: 'DeliveryLocation', value: '0088:55' },
    { name: 'DeliveryLocation', value: 'Harbour' }
  ])
  t.strictSame(
    items.map((item) => texts(item.extensions)),
    [
      [
        { name: 'DeliveryParty', value: 'Acme' },
        { name: 'DeliveryContact', value: 'Mies' },
        { name: 'DeliveryLocation', value: '0088:55' },
        { name: 'DeliveryLocation', value: 'Dock A' }
      ],
      []
    ]
  )
})

t.test('the recipient of the order is a party of any line, and never the place of a line', async (t) => {
  const delivery = (...content: readonly string[]) => `<cac:Delivery>${content.join('')}</cac:Delivery>`
  const delft = (place = '') => `<cac:DeliveryLocation>${place}${address('Address', 'Delft')}</cac:DeliveryLocation>`
  const party = `<cac:DeliveryParty>${named('Works')}</cac:DeliveryParty>`
  const contact = '<cac:DeliveryParty><cac:Contact><cbc:Name>Mies</cbc:Name></cac:Contact></cac:DeliveryParty>'
  const read = (header: string, ...lines: readonly string[]) => {
    const { shipTo, extensions } = draft(order(header, lines.map((content, i) => line(String(i), content)).join('')))
    const places = extensions.filter(({ name }) => name === 'DeliveryLocation').map(({ value }) => value.text)
    return [shipTo?.name?.text, shipTo?.contact?.text, shipTo?.address?.city?.text, ...places]
  }
  t.strictSame(read('', delivery(delft()), delivery(delft(), party)), ['Works', undefined, 'Delft'])
  t.strictSame(read('', delivery(party), ''), ['Works', undefined, undefined])
  t.strictSame(read('', delivery(delft('<cbc:Name>Dock 3</cbc:Name>')), delivery(delft('<cbc:Name>Dock 4</cbc:Name>'))), [
    undefined,
    undefined,
    'Delft'
  ])
  t.strictSame(read(delivery(delft('<cbc:Name>Hall</cbc:Name>')), delivery(party)), ['Works', undefined, 'Delft', 'Hall'])
  t.strictSame(read(delivery(delft('<cbc:Name>Hall</cbc:Name>')), ''), ['Hall', undefined, 'Delft'])
  t.strictSame(read('', delivery(delft(), contact)), [undefined, 'Mies', 'Delft'], 'a contact without a name')
})
