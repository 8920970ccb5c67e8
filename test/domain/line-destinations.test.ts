import t from 'tap'
import { type LineDestination, settleDestination } from '../../domain/line-destinations.ts'
import type { Order, OrderHeader } from '../../domain/order.ts'
import { purchase } from '../stores/fixtures.ts'
import { placedItem, placedOrder } from './placed-order.ts'

const orderOf = (header: Partial<OrderHeader>, recipients: readonly string[] = []) =>
  placedOrder(
    recipients.map((value, i) => placedItem(i + 1, { extensions: [{ name: 'DeliveryParty', value }] })),
    header
  )

const at = (place: string) => [{ name: 'DeliveryLocation', value: place }]

/** The ship-to and the places of the changed header, and the places of the faults. Only the last of two lines names a destination. */
function settled(before: Order, header: Partial<OrderHeader>, destination: LineDestination, more: readonly LineDestination[] = []) {
  const others = more.length > 0 ? more : [undefined]
  const lines = [...others, destination].map((one, i) => {
    const { extensions } = before.items[i] ?? {}
    return { item: extensions ? { extensions } : {}, ...(one ? { destination: { ...one, position: i + 1 } } : {}) }
  })
  const { document, faults } = settleDestination(before, purchase([], header), lines)
  return [document.shipTo, document.extensions.map(({ value }) => value), faults.map(({ at }) => at?.join('.'))]
}

t.test('a line that moves alone is refused; an order whose lines all move goes there', async (t) => {
  const before = orderOf({ shipTo: { name: 'Works', address: { city: 'Gouda' } } })
  const shipTo = { address: { city: 'Delft' } }
  t.match(settled(before, { shipTo }, { names: 'ship-to' }), [shipTo, [], ['item.2.ship-to.address']])
  t.strictSame(settled(before, { shipTo }, { names: 'ship-to' }, [{ names: 'ship-to' }]), [shipTo, [], []])
})

t.test('an order that goes nowhere yet gets the destination of a line', async (t) => {
  const shipTo = { name: 'Yard', address: { city: 'Delft' } }
  t.strictSame(settled(orderOf({}), { shipTo }, { names: 'ship-to', recipient: 'Yard' }), [shipTo, [], []])
  t.strictSame(settled(orderOf({}), { extensions: at('7') }, { names: 'ship-to', place: '7' }), [undefined, ['7'], []])
  t.strictSame(settled(orderOf({ shipTo: { name: 'Works' } }), { shipTo: { address: shipTo.address } }, { names: 'ship-to' }), [
    { name: 'Works', address: { city: 'Delft' } },
    [],
    []
  ])
})

t.test('a place without an address is compared with the place of the order, and is not where only an address is known', async (t) => {
  const place = { names: 'ship-to', place: '7' } as const
  t.strictSame(settled(orderOf({ extensions: at('7') }), { extensions: at('7') }, place), [undefined, [], []])
  t.match(settled(orderOf({ extensions: at('8') }), {}, place)[2], ['item.2.ship-to.address'])
  t.match(settled(orderOf({ shipTo: { address: { city: 'Gouda' } } }), {}, place)[2], ['item.2.ship-to.address'])
  t.strictSame(settled(orderOf({ buyer: { address: { city: 'Gouda' } } }), { extensions: at('7') }, place), [undefined, [], []])
})

t.test('a recipient is known by the ship-to and by the lines, with its contact or without', async (t) => {
  const known = orderOf({}, ['Works, Jo', 'Works'])
  t.strictSame(settled(known, {}, { recipient: 'WORKS' })[2], [])
  t.strictSame(settled(known, {}, { recipient: 'Work' })[2], ['item.2.ship-to.name'])
  t.strictSame(settled(orderOf({ shipTo: { name: 'Hall' } }), {}, { recipient: 'hall' })[2], [])
  t.strictSame(settled(orderOf({}), {}, { recipient: 'Works' })[2], [], 'the order has none')
  t.strictSame(settled(known, {}, { recipient: 'Yard' }, [{ recipient: 'Yard' }])[2], [], 'of all lines')
})

t.test('an order whose lines all get another recipient keeps its address', async (t) => {
  const before = orderOf({ shipTo: { name: 'Works', contact: 'Jo', address: { city: 'Gouda' } } })
  const all = [{ recipient: 'Yard' }]
  t.strictSame(settled(before, {}, { recipient: 'Yard' }, all), [{ name: 'Yard', address: { city: 'Gouda' } }, [], []])
  t.strictSame(settled(orderOf({ shipTo: { name: 'Works' } }), {}, { recipient: 'Yard' }, all), [{ name: 'Yard' }, [], []])
})
