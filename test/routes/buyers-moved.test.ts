import t, { type Test } from 'tap'
import { decimal } from '../../domain/money.ts'
import { build } from '../build.ts'
import { products, read, send, ublAnswer, ublChange, ublLine, ublOrder } from './buyer-fixtures.ts'

interface Destination {
  readonly city?: string
  readonly recipient?: string
  readonly contact?: string
  readonly place?: string
  readonly placeName?: string
}

const element = (name: string, content: string | undefined) => (content ? `<${name}>${content}</${name}>` : '')

const delivery = ({ city, recipient, contact, place, placeName }: Destination) => {
  const address = element('cac:Address', element('cbc:CityName', city))
  const location = element('cac:DeliveryLocation', element('cbc:ID', place) + element('cbc:Name', placeName) + address)
  const named = element('cac:PartyName', element('cbc:Name', recipient)) + element('cac:Contact', element('cbc:Name', contact))
  return element('cac:Delivery', location + element('cac:DeliveryParty', named))
}

const buyer = (city?: string) => {
  const address = city === undefined ? '' : `<cac:PostalAddress><cbc:CityName>${city}</cbc:CityName></cac:PostalAddress>`
  return `<cac:BuyerCustomerParty><cac:Party><cac:PartyName><cbc:Name>ACME</cbc:Name></cac:PartyName>${address}</cac:Party></cac:BuyerCustomerParty>`
}

/** A line that goes somewhere. */
const to = (id: string, status: string, destination: Destination = {}) =>
  ublLine({ id, status, quantity: '3', more: delivery(destination) })

const allTo = (destination: Destination, status = '3') => ['10', '20'].map((id) => to(id, status, destination))

const destinationNames = ['DeliveryParty', 'DeliveryContact', 'DeliveryLocation']

const destinationIn = ({ extension = [] }: { extension?: { name: string; value: string }[] }) =>
  extension.flatMap(({ name, value }) => (destinationNames.includes(name) ? `${name.slice('Delivery'.length)} ${value}` : []))

/** A shop with an order of the lines 10 and 20. */
async function ordered(t: Test, header: string, ...destinations: readonly Destination[]) {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const lines = ['10', '20'].map((id, i) => ublLine({ id, more: delivery(destinations[i] ?? {}) }))
  const placed = await send(shop, ublOrder({ header, lines }), key)
  t.equal(placed.statusCode, 201, placed.body)
  const url = String(placed.headers['location'])
  const order = () => read(shop, url, key)
  return {
    order,
    change: (lines: readonly string[], header = '') => send(shop, ublChange({ header, lines }), key),
    errors: async (lines: readonly string[], header = '') => {
      const refused = await send(shop, ublChange({ header, lines }), { ...key, accept: 'application/json' })
      t.equal(refused.statusCode, 422, refused.body)
      return refused.json().errors.map(({ code, item, path }: Record<string, string>) => `${code} ${item} ${path?.split('/').at(-1)}`)
    },
    /** The ship-to, the quantities of the lines, and all extensions of the order and of its lines that say where it goes. */
    destination: async () => {
      const { shipTo, item, ...header } = await order()
      const quantities = item.map(({ quantity }: { quantity: { value: string } }) => quantity.value).join(' ')
      return [shipTo?.name, shipTo?.address?.city, quantities, ...[header, ...item].map((part) => destinationIn(part).join(', '))]
    }
  }
}

const works = { city: 'Gouda', recipient: 'Works' } as const
const nowhere = ['', '', ''] as const

t.test('a changed line with another address does not move the order', async (t) => {
  const { errors, destination } = await ordered(t, delivery(works))
  t.same(await errors([to('10', '3', { city: 'Delft' })]), ['several-addresses 10 cac:Address'])
  t.same(await errors([to('10', '4'), to('20', '3', { city: 'Delft' })]), ['several-addresses 20 cac:Address'])
  t.same(await errors([to('30', '1', { city: 'Delft' })]), ['several-addresses 30 cac:Address'], 'nor does an added one')
  t.same(await destination(), ['Works', 'Gouda', '2 2', ...nowhere])
})

t.test('the refusal says how the whole order is moved', async (t) => {
  const { change } = await ordered(t, delivery(works))
  const refused = await change([to('10', '3', { city: 'Delft' })])
  t.match(ublAnswer(refused), { code: 'RE', notes: [/item 10: The delivery address differs .* for each of its lines\.$/] })
})

t.test('a line with the address that the order has changes nothing of it', async (t) => {
  const { change, destination } = await ordered(t, delivery(works))
  for (const [same, extensions] of [
    [{ city: ' GOUDA' }, ''],
    [{ city: 'gouda', recipient: 'WORKS', contact: 'Jo' }, 'Party WORKS, Contact Jo'],
    [{ city: 'Gouda', place: '9' }, 'Party WORKS, Contact Jo, Location 9']
  ] as const) {
    const changed = await change([to('10', '3', same)])
    t.equal(changed.statusCode, 200, changed.body)
    t.same(await destination(), ['Works', 'Gouda', '3 2', '', extensions, ''])
  }
})

t.test('a change of all lines moves the order, also if it deletes those that stay behind', async (t) => {
  const line = 'Party Yard'
  for (const [rest, left] of [
    [to('20', '3', { city: 'Delft', recipient: 'Yard' }), ['3 3', '', line, line]],
    [to('20', '2'), ['3', '', line]]
  ] as const) {
    const { change, destination } = await ordered(t, delivery(works))
    const moved = await change([to('10', '3', { city: 'Delft', recipient: 'Yard' }), rest])
    t.equal(moved.statusCode, 200, moved.body)
    t.same(await destination(), ['Yard', 'Delft', ...left])
  }
})

t.test('the Delivery of the change itself moves the order', async (t) => {
  const { change, destination } = await ordered(t, delivery(works))
  const moved = await change([to('10', '3', { city: 'Delft' })], delivery({ city: 'Delft' }))
  t.equal(moved.statusCode, 200, moved.body)
  t.same(await destination(), [undefined, 'Delft', '3 2', ...nowhere])
})

t.test('nothing stays of the destination that an order has left', async (t) => {
  const line = { place: '7', recipient: 'Works', contact: 'Jo' } as const
  for (const [lines, header, left] of [
    [[to('10', '3')], { city: 'Delft' }, ['3 2', ...nowhere]],
    [[to('10', '4')], { city: 'Delft', place: '8' }, ['2 2', 'Location 8', '', '']],
    [[...allTo({ city: 'Delft' })], {}, ['3 3', ...nowhere]],
    [[to('10', '3', { city: 'Delft', place: '8' }), to('20', '4', { city: 'Delft' })], {}, ['3 2', 'Location 8', 'Location 8', '']]
  ] as const) {
    const { change, errors, destination } = await ordered(t, delivery({ ...works, place: '7' }), line, line)
    const moved = await change([...lines], delivery(header))
    t.equal(moved.statusCode, 200, moved.body)
    t.same(await destination(), [undefined, 'Delft', ...left])
    t.same(await errors([to('10', '3', { place: '7' })]), ['several-addresses 10 cac:DeliveryLocation'])
  }
})

t.test('an added line of an order that moves keeps its own destination', async (t) => {
  const { change, destination } = await ordered(t, delivery(works))
  const yard = { recipient: 'Yard', contact: 'Mies', placeName: 'Dock 3' }
  t.equal((await change([to('30', '1', yard)], delivery({ city: 'Delft' }))).statusCode, 200)
  t.same(await destination(), ['Yard', 'Delft', '2 2 3', '', '', '', 'Party Yard, Contact Mies, Location Dock 3'])
})

t.test('an order with an address does not move to a place alone', async (t) => {
  const { change, errors, destination } = await ordered(t, delivery(works))
  t.same(await errors(allTo({ place: '8' })), ['several-addresses 10 cac:DeliveryLocation', 'several-addresses 20 cac:DeliveryLocation'])
  t.same(await errors([to('10', '3')], delivery({ place: '8' })), ['several-addresses undefined cbc:ID'])
  const refused = await change([to('10', '3')], delivery({ place: '8' }))
  t.match(ublAnswer(refused).notes, [/Name the address of the location too\.$/])
  t.same(await destination(), ['Works', 'Gouda', '2 2', ...nowhere])
  t.equal((await change(allTo({ city: 'Gouda', place: '8' }, '4'))).statusCode, 200)
  t.same(await destination(), ['Works', 'Gouda', '2 2', 'Location 8', '', ''])
  t.equal((await change([to('10', '3')], delivery({ place: '8' }))).statusCode, 200, 'it is one of the order now')
})

t.test('an order without an address of its own goes to the buyer', async (t) => {
  const { change, errors, destination } = await ordered(t, buyer('Gouda'))
  t.same(await errors([to('10', '3', { city: 'Delft' })], buyer()), ['several-addresses 10 cac:Address'])
  const changed = await change([to('10', '3', { city: 'Gouda' })], buyer('Gouda'))
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await destination(), [undefined, undefined, '3 2', ...nowhere])
})

t.test('lines without an address go where the order goes, not to the buyer', async (t) => {
  const { change, destination } = await ordered(t, buyer('Utrecht') + delivery(works))
  const changed = await change([to('10', '3', { city: 'Gouda' }), to('20', '3')], buyer('Utrecht'))
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await destination(), ['Works', 'Gouda', '3 3', ...nowhere])
})

t.test('a line gives an order its address that had none', async (t) => {
  const { change, destination } = await ordered(t, delivery({ recipient: 'Works' }))
  const changed = await change([to('10', '3', { city: 'Delft', place: '7' })])
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await destination(), ['Works', 'Delft', '3 2', 'Location 7', 'Location 7', ''])
})

t.test('a place that only has an identifier is the address of an order without one', async (t) => {
  const { change, errors, destination } = await ordered(t, delivery({ place: '7', recipient: 'Works' }))
  t.same(await errors([to('10', '3', { place: '8' })]), ['several-addresses 10 cac:DeliveryLocation'])
  t.same(await errors([to('10', '3', { city: 'Delft' })]), ['several-addresses 10 cac:Address'])
  t.equal((await change([to('10', '3', { place: '7' })])).statusCode, 200)
  t.same(await destination(), ['Works', undefined, '3 2', 'Location 7', 'Location 7', ''])
  t.equal((await change([to('10', '4')], delivery({ place: '8' }))).statusCode, 200)
  t.same(await destination(), [undefined, undefined, '3 2', 'Location 8', '', ''])
  t.equal((await change(allTo({ city: 'Delft' }))).statusCode, 200)
  t.same(await destination(), [undefined, 'Delft', '3 3', ...nowhere])
})

t.test('a changed line does not give the order another recipient', async (t) => {
  const { change, errors, destination } = await ordered(t, delivery(works))
  t.same(await errors([to('10', '3', { city: 'Gouda', recipient: 'Yard' })]), ['several-addresses 10 cbc:Name'])
  t.same(await errors([to('20', '3', { recipient: 'Yard' })]), ['several-addresses 20 cbc:Name'])
  t.same(await destination(), ['Works', 'Gouda', '2 2', ...nowhere])
  t.equal((await change(allTo({ recipient: 'Yard' }))).statusCode, 200)
  t.same(await destination(), ['Yard', 'Gouda', '3 3', '', 'Party Yard', 'Party Yard'])
})

t.test('the former recipient and its contact leave all lines of the order, and its place stays', async (t) => {
  const line = { place: '7', recipient: 'Works', contact: 'Jo' } as const
  for (const [lines, header] of [
    [[to('10', '3')], { recipient: 'Yard' }],
    [allTo({ recipient: 'Yard' }, '4'), {}]
  ] as const) {
    const { change, errors, destination } = await ordered(t, delivery({ city: 'Gouda', place: '7' }), line, line)
    const moved = await change(lines, delivery(header))
    t.equal(moved.statusCode, 200, moved.body)
    t.match(await destination(), ['Yard', 'Gouda', /2$/, 'Location 7', 'Location 7', 'Location 7'])
    t.same(await errors([to('20', '3', { recipient: 'Works' })]), ['several-addresses 20 cbc:Name'])
  }
})

t.test('an order that has no recipient gets that of its lines, unchanged ones included', async (t) => {
  for (const lines of [allTo({ recipient: 'Yard', contact: 'Mies' }, '4'), [to('20', '4', { recipient: 'Yard', contact: 'Mies' })]]) {
    const { change, order, errors } = await ordered(t, delivery({ city: 'Gouda' }))
    t.equal((await change(lines)).statusCode, 200)
    t.same((await order()).shipTo, { name: 'Yard', contact: 'Mies', address: { city: 'Gouda' } })
    t.same(await errors([to('10', '3', { recipient: 'Works' })]), ['several-addresses 10 cbc:Name'])
  }
})

t.test('an order gets its recipient from any of the lines that move it', async (t) => {
  const yard = { city: 'Delft', recipient: 'Yard' }
  for (const [first, second] of [[yard, { city: 'Delft' }] as const, [{ city: 'Delft' }, yard] as const]) {
    const { change, destination } = await ordered(t, delivery(works))
    t.equal((await change([to('10', '4', first), to('20', '4', second)])).statusCode, 200)
    t.same(await destination(), ['Yard', 'Delft', '2 2', ...nowhere])
  }
})

t.test('a changed line agrees with the recipients of the other lines', async (t) => {
  const { change, errors } = await ordered(t, delivery({ city: 'Gouda' }), { recipient: 'Works' }, { recipient: 'Works' })
  t.same(await errors([to('10', '3', { recipient: 'Yard' })]), ['several-addresses 10 cbc:Name'])
  t.equal((await change([to('10', '3', { recipient: 'works' })])).statusCode, 200)
  const other = await ordered(t, delivery({ city: 'Gouda' }), { recipient: 'ACME, Berlin' })
  t.same(await other.errors([to('20', '3', { recipient: 'ACME' })]), ['several-addresses 20 cbc:Name'], 'by their whole names')
})

t.test('the place of a line is no recipient, and that of the order is one without a party', async (t) => {
  const docks = await ordered(t, '', { city: 'Gouda', placeName: 'Dock 3' }, { city: 'Gouda', placeName: 'Dock 4' })
  t.same(await docks.destination(), [undefined, 'Gouda', '2 2', '', 'Location Dock 3', 'Location Dock 4'])
  t.equal((await docks.change([to('10', '3', { recipient: 'ACME' })])).statusCode, 200)
  t.same(await docks.destination(), ['ACME', 'Gouda', '3 2', '', 'Location Dock 3, Party ACME', 'Location Dock 4'])
  const hall = await ordered(t, delivery({ city: 'Gouda', placeName: 'Hall' }), { recipient: 'Works' })
  t.same(await hall.destination(), ['Works', 'Gouda', '2 2', 'Location Hall', 'Party Works', ''])
  t.same(await hall.errors([to('20', '3', { recipient: 'Hall' })]), ['several-addresses 20 cbc:Name'])
  t.equal((await hall.change([to('20', '3', { city: 'Gouda' })], delivery({ placeName: 'Yard' }))).statusCode, 200)
  t.same(await hall.destination(), ['Yard', 'Gouda', '2 3', 'Location Hall', '', ''])
})

t.test('the header of a change may name the recipient, and a line the address', async (t) => {
  const { change, errors, destination } = await ordered(t, delivery(works))
  t.same(await errors([to('10', '3', { city: 'Delft' })], delivery({ recipient: 'Yard' })), ['several-addresses 10 cac:Address'])
  t.equal((await change([to('10', '3', { city: 'Gouda' })], delivery({ recipient: 'Yard' }))).statusCode, 200)
  t.same(await destination(), ['Yard', 'Gouda', '3 2', ...nowhere])
})

t.test('a recipient whose name is too long for the shop is not stored', async (t) => {
  const { change, destination } = await ordered(t, delivery(works))
  const recipient = 'W'.repeat(5_000)
  t.equal((await change(allTo({ recipient }))).statusCode, 200)
  t.same(await destination(), ['Works', 'Gouda', '3 3', ...nowhere])
})

t.test('a line does not move a large order either', async (t) => {
  const shop = await build(t, { products: { 'BOLT-8': { ...products['BOLT-8'], onHand: decimal('5000') } } })
  const key = await shop.key('acme', 'order')
  const lines = Array.from({ length: 1_000 }, (_, i) => ublLine({ id: String(i + 1) }))
  t.equal((await send(shop, ublOrder({ header: delivery(works), lines }), key)).statusCode, 201)
  const post = (destination: Destination) => send(shop, ublChange({ lines: [to('700', '3', destination)] }), key)
  const refused = await post({ city: 'Delft' })
  t.match(
    [refused.statusCode, ublAnswer(refused)],
    [422, { code: 'RE', notes: [/Delivery\/.*\/cac:Address, item 700: The delivery address/] }]
  )
  t.equal((await post({ city: 'Gouda' })).statusCode, 200)
})
