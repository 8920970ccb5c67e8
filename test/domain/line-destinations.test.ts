import t from 'tap'
import { type LineDestination, settleDestination, withoutOldDestination } from '../../domain/line-destinations.ts'
import type { Order, OrderHeader } from '../../domain/order.ts'
import { purchase } from '../stores/fixtures.ts'
import { placedItem, placedOrder } from './placed-order.ts'

const orderOf = (header: Partial<OrderHeader>, recipients: readonly string[] = []) =>
  placedOrder(
    recipients.map((value, i) => placedItem(i + 1, { extensions: [{ name: 'DeliveryParty', value }] })),
    header
  )

const at = (...places: readonly string[]) => places.map((value) => ({ name: 'DeliveryLocation', value }))

/** The ship-to and the places of the changed header, what moves, and the places of the faults. */
function settled(before: Order, header: Partial<OrderHeader>, lines: readonly (LineDestination | undefined)[]) {
  const named = lines.map((one, i) => (one ? { destination: { ...one, position: i + 1 } } : {}))
  const { document, moved, faults } = settleDestination(before, purchase([], header), named)
  const parts = Object.entries(moved).flatMap(([part, isMoved]) => (isMoved ? [part] : []))
  const places = document.extensions.map(({ value }) => value)
  return [document.shipTo, places, parts.join(' '), faults.map(({ at }) => at?.join('.'))]
}

const address = { hasAddress: true } as const
const recipient = { hasRecipient: true } as const
const place = { ...address, place: '7' } as const
const gouda = { address: { city: 'Gouda' } } as const
const delft = { address: { city: 'Delft' } } as const
const both = 'address recipient'

t.test('a line that moves alone is refused; an order whose lines all move goes there, and so does one whose header moves', async (t) => {
  const before = orderOf({ shipTo: { name: 'Works', ...gouda } })
  t.strictSame(settled(before, { shipTo: delft }, [undefined, address]), [delft, [], '', ['item.2.ship-to.address']])
  t.strictSame(settled(before, { shipTo: delft }, [address, address]), [delft, [], both, []])
  t.strictSame(settled(before, { shipTo: delft }, [undefined, undefined]), [delft, [], both, []])
})

t.test('an order that goes nowhere yet gets the destination of a line', async (t) => {
  const shipTo = { name: 'Yard', ...delft }
  t.strictSame(settled(orderOf({}), { shipTo }, [undefined, { ...address, ...recipient }]), [shipTo, [], '', []])
  t.strictSame(settled(orderOf({}), { extensions: at('7') }, [undefined, place]), [undefined, ['7'], '', []])
  t.strictSame(settled(orderOf({ shipTo: { name: 'Works' } }), { shipTo: delft }, [undefined, address]), [delft, [], '', []])
})

t.test('a line that names the present destination changes nothing of it', async (t) => {
  const before = orderOf({ shipTo: { name: 'Works', ...gouda }, extensions: at('7') })
  const header = { shipTo: { name: 'WORKS', contact: 'Jo', ...gouda }, extensions: at('8', 'Gate') }
  t.strictSame(settled(before, header, [undefined, { ...address, ...recipient, place: '8' }]), [undefined, ['Gate'], '', []])
  t.strictSame(settled(before, header, [undefined, { ...address, place: '8' }]), [{ name: 'WORKS', contact: 'Jo' }, ['Gate'], '', []])
})

t.test('a place without an address is compared with those of an order without one', async (t) => {
  const before = orderOf({ extensions: at('6', '7') })
  t.strictSame(settled(before, { extensions: at('7') }, [undefined, place]), [undefined, [], '', []])
  t.strictSame(settled(before, { extensions: at('8') }, [undefined, { ...place, place: '8' }])[3], ['item.2.ship-to.address'])
  t.strictSame(settled(before, { shipTo: delft }, [undefined, address])[3], ['item.2.ship-to.address'])
  t.strictSame(settled(before, { extensions: at('8') }, [undefined]), [undefined, ['8'], both, []])
  t.strictSame(settled(orderOf({ buyer: gouda }), { extensions: at('7') }, [undefined, place])[3], ['item.2.ship-to.address'])
  t.strictSame(settled(orderOf({ buyer: gouda }), { extensions: at('7') }, [place]), [undefined, ['7'], both, []])
})

t.test('an order with an address does not move to a place whose address is not named', async (t) => {
  const before = orderOf({ shipTo: gouda, extensions: at('7') })
  const elsewhere = { extensions: [{ name: 'Contract', value: 'C' }, ...at('8')] }
  const line = { ...place, place: '8' }
  t.strictSame(settled(before, elsewhere, [line, line])[3], ['item.1.ship-to.address', 'item.2.ship-to.address'])
  t.strictSame(settled(before, elsewhere, [undefined, line])[3], ['item.2.ship-to.address'])
  t.strictSame(settled(before, elsewhere, [undefined])[3], ['extension.2'], 'the header')
  t.strictSame(settled(before, {}, [undefined, address])[3], ['item.2.ship-to.address'], 'an address that the shop cannot hold')
  t.strictSame(settled(before, { extensions: at('7') }, [place, undefined]), [undefined, [], '', []], 'its own place')
  const { faults } = settleDestination(before, purchase([], elsewhere), [])
  t.match(faults, [{ code: 'several-addresses', detail: /Name the address of the location too\.$/ }])
})

t.test('an order without a ship-to goes to its buyer, who may move with the change', async (t) => {
  const before = orderOf({ buyer: gouda })
  t.strictSame(settled(before, { shipTo: gouda }, [undefined, address]), [undefined, [], '', []])
  t.strictSame(settled(before, { buyer: delft, shipTo: gouda }, [undefined, address])[3], ['item.2.ship-to.address'])
  t.strictSame(settled(before, { buyer: delft, shipTo: delft }, [undefined, address]), [undefined, [], '', []])
})

t.test('a recipient is known by the ship-to and by the lines, by its whole name', async (t) => {
  const named = (before: Order, name: string) => settled(before, { shipTo: { name } }, [undefined, recipient])
  const refused = ['item.2.ship-to.name']
  t.strictSame(named(orderOf({}, ['Works']), 'WORKS'), [undefined, [], '', []])
  t.strictSame(named(orderOf({}, ['Works']), 'Work')[3], refused)
  t.strictSame(named(orderOf({}, ['ACME, Berlin']), 'ACME')[3], refused)
  t.strictSame(named(orderOf({}, ['Works, Jo']), 'Works, Jo')[3], [], 'an order of before that has the contact beside the name')
  t.strictSame(named(orderOf({ shipTo: { name: 'Hall' } }), 'hall'), [undefined, [], '', []])
  t.strictSame(named(orderOf({}), 'Works'), [{ name: 'Works' }, [], '', []], 'the order has none')
})

t.test('the order gets another recipient from all its lines or from the header', async (t) => {
  const shipTo = { name: 'Yard' }
  for (const before of [orderOf({ shipTo: { name: 'Works', ...gouda } }), orderOf({}, ['Works']), orderOf({ shipTo: gouda }, ['Works'])]) {
    t.strictSame(settled(before, { shipTo }, [recipient, undefined])[3], ['item.1.ship-to.name'])
    t.strictSame(settled(before, { shipTo }, [recipient, recipient]), [shipTo, [], 'recipient', []])
    t.strictSame(settled(before, { shipTo }, [undefined, undefined]), [shipTo, [], 'recipient', []])
  }
  t.strictSame(settled(orderOf({ shipTo: gouda }), { shipTo }, [recipient, recipient]), [shipTo, [], '', []], 'none before')
})

t.test('the recipient at another address is not the one of before', async (t) => {
  const before = orderOf({ shipTo: { name: 'Works', ...gouda } })
  const shipTo = { name: 'Yard', ...delft }
  t.strictSame(settled(before, { shipTo }, [address, { ...address, ...recipient }]), [shipTo, [], both, []])
  t.strictSame(settled(before, { shipTo }, [undefined, recipient]), [shipTo, [], both, []])
})

t.test('an old destination is in three extensions', async (t) => {
  const names = ['DeliveryParty', 'DeliveryContact', 'DeliveryLocation', 'Note']
  const left = (address: boolean, recipient: boolean) =>
    withoutOldDestination(
      names.map((name) => ({ name, value: 'x' })),
      { address, recipient }
    ).map(({ name }) => name)
  t.strictSame(left(false, false), names)
  t.strictSame(left(false, true), ['DeliveryLocation', 'Note'])
  t.strictSame(left(true, true), ['Note'])
})
