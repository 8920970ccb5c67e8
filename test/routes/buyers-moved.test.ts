import t, { type Test } from 'tap'
import { decimal } from '../../domain/money.ts'
import { build } from '../build.ts'
import { products, read, send, ublAnswer, ublChange, ublLine, ublOrder } from './buyer-fixtures.ts'

interface Goal {
  readonly city?: string
  readonly recipient?: string
  readonly place?: string
}

const delivery = ({ city, recipient, place }: Goal) => {
  const address = city === undefined ? '' : `<cac:Address><cbc:CityName>${city}</cbc:CityName></cac:Address>`
  const location = `<cac:DeliveryLocation>${place === undefined ? '' : `<cbc:ID>${place}</cbc:ID>`}${address}</cac:DeliveryLocation>`
  const name = `<cac:DeliveryParty><cac:PartyName><cbc:Name>${recipient}</cbc:Name></cac:PartyName></cac:DeliveryParty>`
  return `<cac:Delivery>${(city ?? place) ? location : ''}${recipient === undefined ? '' : name}</cac:Delivery>`
}

const buyer = (city?: string) => {
  const address = city === undefined ? '' : `<cac:PostalAddress><cbc:CityName>${city}</cbc:CityName></cac:PostalAddress>`
  return `<cac:BuyerCustomerParty><cac:Party><cac:PartyName><cbc:Name>ACME</cbc:Name></cac:PartyName>${address}</cac:Party></cac:BuyerCustomerParty>`
}

/** A line that goes somewhere. */
const to = (id: string, status: string, goal?: Goal) => ublLine({ id, status, quantity: '3', more: goal ? delivery(goal) : '' })

/** A shop with an order of the lines 10 and 20. */
async function ordered(t: Test, header: string, goal?: Goal) {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const lines = ['10', '20'].map((id) => ublLine({ id, more: goal ? delivery(goal) : '' }))
  const placed = await send(shop, ublOrder({ header, lines }), key)
  t.equal(placed.statusCode, 201, placed.body)
  const url = String(placed.headers['location'])
  return {
    change: (lines: readonly string[], header = '') => send(shop, ublChange({ header, lines }), key),
    errors: async (lines: readonly string[], header = '') => {
      const refused = await send(shop, ublChange({ header, lines }), { ...key, accept: 'application/json' })
      t.equal(refused.statusCode, 422, refused.body)
      return refused.json().errors.map(({ code, item, path }: Record<string, string>) => `${code} ${item} ${path?.split('/').at(-1)}`)
    },
    goal: async () => {
      const { shipTo, extension = [], item } = await read(shop, url, key)
      const place = extension.find(({ name }: { name: string }) => name === 'DeliveryLocation')?.value
      const quantities = item.map(({ quantity }: { quantity: { value: string } }) => quantity.value).join(' ')
      return [shipTo?.name, shipTo?.address?.city, place, quantities]
    }
  }
}

const works = { city: 'Gouda', recipient: 'Works' } as const

t.test('a changed line with another address does not move the order', async (t) => {
  const { errors, goal } = await ordered(t, delivery(works))
  t.same(await errors([to('10', '3', { city: 'Delft' })]), ['several-addresses 10 cac:Address'])
  t.same(await errors([to('10', '4'), to('20', '3', { city: 'Delft' })]), ['several-addresses 20 cac:Address'])
  t.same(await errors([to('30', '1', { city: 'Delft' })]), ['several-addresses 30 cac:Address'], 'nor does an added one')
  t.same(await goal(), ['Works', 'Gouda', undefined, '2 2'])
})

t.test('the refusal says how the whole order is moved', async (t) => {
  const { change } = await ordered(t, delivery(works))
  const refused = await change([to('10', '3', { city: 'Delft' })])
  t.match(ublAnswer(refused), { code: 'RE', notes: [/item 10: The delivery address differs .* for each of its lines\.$/] })
})

t.test('a line with the address that the order has changes nothing of it', async (t) => {
  const { change, goal } = await ordered(t, delivery(works))
  for (const same of [{ city: ' GOUDA' }, { city: 'gouda', recipient: 'WORKS' }, { city: 'Gouda', place: '9' }]) {
    const changed = await change([to('10', '3', same)])
    t.equal(changed.statusCode, 200, changed.body)
    t.same(await goal(), ['Works', 'Gouda', undefined, '3 2'])
  }
})

t.test('a change of all lines moves the order, also if it deletes those that stay behind', async (t) => {
  for (const rest of [to('20', '3', { city: 'Delft', recipient: 'Yard' }), to('20', '2')]) {
    const { change, goal } = await ordered(t, delivery(works))
    const moved = await change([to('10', '3', { city: 'Delft', recipient: 'Yard' }), rest])
    t.equal(moved.statusCode, 200, moved.body)
    t.match(await goal(), ['Yard', 'Delft', undefined, /^3/])
  }
})

t.test('the Delivery of the change itself moves the order', async (t) => {
  const { change, goal } = await ordered(t, delivery(works))
  const moved = await change([to('10', '3', { city: 'Delft' })], delivery({ city: 'Delft' }))
  t.equal(moved.statusCode, 200, moved.body)
  t.same(await goal(), [undefined, 'Delft', undefined, '3 2'])
})

t.test('an order without an address of its own goes to the buyer', async (t) => {
  const { change, errors, goal } = await ordered(t, buyer('Gouda'))
  t.same(await errors([to('10', '3', { city: 'Delft' })], buyer()), ['several-addresses 10 cac:Address'])
  const changed = await change([to('10', '3', { city: 'Gouda' })], buyer('Gouda'))
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await goal(), [undefined, undefined, undefined, '3 2'])
})

t.test('lines without an address go where the order goes, not to the buyer', async (t) => {
  const { change, goal } = await ordered(t, buyer('Utrecht') + delivery(works))
  const changed = await change([to('10', '3', { city: 'Gouda' }), to('20', '3')], buyer('Utrecht'))
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await goal(), ['Works', 'Gouda', undefined, '3 3'])
})

t.test('a line gives an order its address that had none', async (t) => {
  const { change, goal } = await ordered(t, delivery({ recipient: 'Works' }))
  const changed = await change([to('10', '3', { city: 'Delft', place: '7' })])
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await goal(), ['Works', 'Delft', '7', '3 2'])
})

t.test('a place that only has an identifier is an address too', async (t) => {
  const { change, errors, goal } = await ordered(t, delivery({ place: '7' }))
  t.same(await errors([to('10', '3', { place: '8' })]), ['several-addresses 10 cac:DeliveryLocation'])
  t.same(await errors([to('10', '3', { city: 'Delft' })]), ['several-addresses 10 cac:Address'])
  t.equal((await change([to('10', '3', { place: '7' })])).statusCode, 200)
  t.same(await goal(), [undefined, undefined, '7', '3 2'])
  t.equal((await change(['10', '20'].map((id) => to(id, '3', { place: '8' })))).statusCode, 200)
  t.same(await goal(), [undefined, undefined, '8', '3 3'])
})

t.test('a changed line does not give the order another recipient', async (t) => {
  const { change, errors, goal } = await ordered(t, delivery(works))
  t.same(await errors([to('10', '3', { city: 'Gouda', recipient: 'Yard' })]), ['several-addresses 10 cbc:Name'])
  t.same(await errors([to('20', '3', { recipient: 'Yard' })]), ['several-addresses 20 cbc:Name'])
  t.same(await goal(), ['Works', 'Gouda', undefined, '2 2'])
  t.equal((await change(['10', '20'].map((id) => to(id, '3', { recipient: 'Yard' })))).statusCode, 200)
  t.same(await goal(), ['Yard', 'Gouda', undefined, '3 3'])
})

t.test('a changed line agrees with the recipients of the other lines', async (t) => {
  const { change, errors } = await ordered(t, delivery({ city: 'Gouda' }), { recipient: 'Works' })
  t.same(await errors([to('10', '3', { recipient: 'Yard' })]), ['several-addresses 10 cbc:Name'])
  t.equal((await change([to('10', '3', { recipient: 'works' })])).statusCode, 200)
})

t.test('the header of a change may name the recipient, and a line the address', async (t) => {
  const { change, errors, goal } = await ordered(t, delivery(works))
  t.same(await errors([to('10', '3', { city: 'Delft' })], delivery({ recipient: 'Yard' })), ['several-addresses 10 cac:Address'])
  t.equal((await change([to('10', '3', { city: 'Gouda' })], delivery({ recipient: 'Yard' }))).statusCode, 200)
  t.same(await goal(), ['Yard', 'Gouda', undefined, '3 2'])
})

t.test('a line does not move a large order either', async (t) => {
  const shop = await build(t, { products: { 'BOLT-8': { ...products['BOLT-8'], onHand: decimal('5000') } } })
  const key = await shop.key('acme', 'order')
  const lines = Array.from({ length: 1_000 }, (_, i) => ublLine({ id: String(i + 1) }))
  t.equal((await send(shop, ublOrder({ header: delivery(works), lines }), key)).statusCode, 201)
  const post = (goal: Goal) => send(shop, ublChange({ lines: [to('700', '3', goal)] }), key)
  const refused = await post({ city: 'Delft' })
  t.match(
    [refused.statusCode, ublAnswer(refused)],
    [422, { code: 'RE', notes: [/Delivery\/.*\/cac:Address, item 700: The delivery address/] }]
  )
  t.equal((await post({ city: 'Gouda' })).statusCode, 200)
})
