import t from 'tap'
import { carryOver } from '../../domain/carrying-over.ts'
import { defer } from '../../domain/deferred.ts'
import { decimal } from '../../domain/money.ts'
import type { Order, OrderItem } from '../../domain/order.ts'
import { decideDetails, mostNoteCharacters } from '../../domain/seller-details.ts'
import { cutToShipped, decideShipment, leftOf, mostShipments, requireLines, shipmentNumber } from '../../domain/shipping.ts'

const line = (number: number, productId: string, quantity: string, more: Partial<OrderItem> = {}): OrderItem => ({
  line: number,
  productId,
  name: productId,
  quantity: decimal(quantity),
  unit: 'C62',
  unitPrice: decimal('0.335'),
  lineTotal: decimal('0'),
  notes: [],
  ...more
})

const shipped = (quantity: string) => ({ shippedQuantity: decimal(quantity) })

const order = (items: readonly OrderItem[], more: Partial<Order> = {}): Order => ({
  id: 'o',
  version: 3,
  status: 'accepted',
  currency: 'EUR',
  notes: [],
  extensions: [],
  items,
  total: decimal('0'),
  placedAt: 1000,
  modifiedAt: 2000,
  ...more
})

const quantitiesOf = ({ items }: Pick<Order, 'items'>) => items.map(({ shippedQuantity }) => shippedQuantity)

t.test('where lines are asked for, a shipment without lines is refused instead of shipping all that is left', async (t) => {
  requireLines({ items: [{ line: 1, quantity: decimal('1') }] })
  requireLines(defer('not parsed'))
  t.throws(() => requireLines({ carrier: 'Post' }), { code: 'invalid-shipment' })
})

t.test('a shipment has a number from 1 to that of the last shipment', async (t) => {
  for (const number of [1, 10, mostShipments]) t.equal(shipmentNumber(String(number)), number)
  for (const text of ['', '0', '01', '-1', '+1', '1.0', '1e3', ' 1', '1\n', 'x', String(mostShipments + 1), '9'.repeat(400)])
    t.equal(shipmentNumber(text), undefined, text)
})

t.test('the quantity that is left of a line is exact', async (t) => {
  t.equal(leftOf({ quantity: decimal('0.3'), ...shipped('0.1') }), '0.2')
  t.equal(leftOf({ quantity: decimal('3.000') }), '3.000')
})

t.test('a shipment is made of a snapshot of the lines, and the time never goes back', async (t) => {
  const before = order([line(1, 'a', '2'), line(2, 'b', '1.5', shipped('0.5'))], { shipmentCount: 4 })
  const {
    order: after,
    shipment,
    events
  } = decideShipment(before, { items: [{ line: 2, quantity: decimal('1') }] }, { version: 3 }, { now: 1500 })
  t.match(after, { version: 4, status: 'accepted', modifiedAt: 2000, shipmentCount: 5 })
  t.same(quantitiesOf(after), [undefined, '1.5'])
  t.match(shipment, { orderId: 'o', number: 5, shippedAt: 1500, itemCount: 1, items: [{ line: 2, productId: 'b', quantity: '1' }] })
  t.same(quantitiesOf(before), [undefined, '0.5'])
  t.match(events, [{ type: 'order-shipped', version: 4, at: 2000 }])
  t.equal(events.length, 1, 'the status stays')
})

t.test('the last shipment that an order can have, the thousandth, is of all that is left', async (t) => {
  t.equal(mostShipments, 1_000)
  const before = order([line(1, 'a', '2')], { shipmentCount: mostShipments - 1 })
  const one = { items: [{ line: 1, quantity: decimal('1') }] }
  t.throws(() => decideShipment(before, one, {}, { now: 0 }), { code: 'shipment-refused', faults: [{ code: 'too-many-shipments' }] })
  t.match(decideShipment(before, {}, {}, { now: 0 }).order, { status: 'shipped', shipmentCount: mostShipments })
})

t.test('a hundred faults of a shipment are listed at most', async (t) => {
  const items = Array.from({ length: 300 }, (_, i) => ({ line: i + 2, quantity: decimal('1') }))
  try {
    decideShipment(order([line(1, 'a', '2')]), { items }, {}, { now: 0 })
    t.fail('it is refused')
  } catch (error) {
    t.equal((error as { faults: unknown[] }).faults.length, 100)
  }
})

t.test('an order is cut to what was shipped, and its lines are rounded together', async (t) => {
  const lines = [line(1, 'a', '9', shipped('1')), line(2, 'b', '2'), line(3, 'a', '2', shipped('1'))]
  const { items, total } = cutToShipped(order(lines))
  t.match(items, [
    { line: 1, quantity: '1', lineTotal: '0.34' },
    { line: 3, quantity: '1', lineTotal: '0.33' }
  ])
  t.same([items.length, total], [2, '0.67'])
})

const carried = (before: Order, after: Order) =>
  carryOver(
    before,
    after,
    after.items.map(({ line, productId }) => ({ position: line, productId }))
  )

t.test('the shipped quantity follows its product and terms when lines move, are joined or divided', async (t) => {
  const before = order([line(1, 'a', '4', shipped('3')), line(2, 'b', '2', shipped('1')), line(3, 'a', '2')], { shipmentCount: 2 })
  for (const [items, wanted] of [
    [
      [line(1, 'a', '4'), line(2, 'b', '2'), line(3, 'a', '2')],
      ['3', '1', undefined]
    ],
    [
      [line(1, 'b', '1'), line(2, 'a', '2'), line(3, 'a', '2')],
      ['1', '2', '1']
    ],
    [
      [line(1, 'a', '6'), line(2, 'b', '5')],
      ['3', '1']
    ],
    [
      [line(1, 'a', '1'), line(2, 'a', '1'), line(3, 'a', '4'), line(4, 'b', '2')],
      ['1', '1', '1', '1']
    ]
  ] as const) {
    const after = carried(before, order(items))
    t.same(quantitiesOf(after), wanted)
    t.equal(after.shipmentCount, 2)
  }
  for (const [items, at] of [
    [
      [line(1, 'a', '2'), line(2, 'b', '2')],
      ['item', 1, 'quantity']
    ],
    [
      [line(1, 'b', '2'), line(2, 'a', '2')],
      ['item', 2, 'quantity']
    ],
    [
      [line(1, 'b', '2'), line(2, 'a', '4', { unitPrice: decimal('2') })],
      ['item', 2, 'quantity']
    ],
    [
      [line(1, 'b', '2'), line(2, 'a', '4', { unit: 'KGM' })],
      ['item', 2, 'quantity']
    ],
    [[line(1, 'a', '4')], undefined]
  ] as const) {
    const fault = { code: 'already-shipped', at }
    t.throws(() => carried(before, order(items)), { code: 'order-refused', faults: [fault] }, 'a line that was removed has no place')
  }
  t.equal(carried(before, order([line(1, 'a', '3'), line(2, 'b', '1')])).status, 'shipped', 'when nothing is left')
})

t.test('each line is looked at a few times, however many products lack what was shipped', async (t) => {
  let looks = 0
  const many = Array.from({ length: 2_000 }, (_, i) => {
    const item = line(i + 1, `p${i}`, '2', shipped('1'))
    return Object.defineProperty({ ...item }, 'unitPrice', {
      enumerable: true,
      get() {
        looks++
        return item.unitPrice
      }
    })
  })
  t.throws(() => carried(order(many), order([line(1, 'other', '1')])), { code: 'order-refused', faults: { length: 100 } })
  t.ok(looks > 0 && looks < 20 * many.length, `${looks} times`)
})

t.test('an order of which nothing was shipped keeps its status, and its lines the seller’s details', async (t) => {
  const details = { expectedDeliveryDate: '2026-12-01', sellerNote: 'Blue' }
  const before = order([line(1, 'a', '1'), line(2, 'b', '1', details)], { sellerNote: 'All' })
  const after = carried(before, order([line(1, 'b', '7'), line(2, 'b', '1'), line(3, 'c', '1')]))
  t.match([after.status, after.sellerNote, after.items[1]], ['accepted', 'All', details])
  for (const i of [0, 2]) t.notOk('sellerNote' in (after.items[i] ?? {}))
  t.match(carried(before, order([line(1, 'b', '7')])).items[0], details, 'a line that moved')
})

t.test('details that the order has already change nothing; an empty note removes one', async (t) => {
  const before = order([line(1, 'a', '1', { sellerNote: 'x' })], { expectedDeliveryDate: '2026-12-01' })
  for (const same of [{}, { note: '' }, { expectedDeliveryDate: '2026-12-01', items: [{ line: 1, note: 'x' }] }]) {
    t.equal(decideDetails(before, same), undefined)
  }
  const after = decideDetails(before, { note: 'y', items: [{ line: 1, note: '' }] })
  t.match(after, { sellerNote: 'y', expectedDeliveryDate: '2026-12-01' })
  t.notOk('sellerNote' in (after?.items[0] ?? {}))
})

t.test('the seller’s notes of an order have a limit together; where they are over it already, they may get shorter', async (t) => {
  const most = 'x'.repeat(4000)
  const lines = Array.from({ length: 150 }, (_, i) => line(i + 1, 'a', '1'))
  const noted = (count: number) => lines.map((item, i) => (i < count ? { ...item, sellerNote: most } : item))
  const full = order(noted(mostNoteCharacters / most.length))
  t.throws(() => decideDetails(full, { note: 'y' }), { code: 'invalid-status', message: /500001 characters\. At most 500000/ })
  t.throws(() => decideDetails(full, { items: [{ line: 126, note: most }] }), { code: 'invalid-status' })
  t.ok(decideDetails(full, { expectedDeliveryDate: '2026-12-01' }))
  t.match(decideDetails(full, { note: 'y', items: [{ line: 1, note: '' }] }), { sellerNote: 'y' })
  const over = order(noted(150))
  t.throws(() => decideDetails(over, { note: 'y' }), { code: 'invalid-status' })
  t.match(decideDetails(over, { items: [{ line: 1, note: 'Soon.' }] })?.items[0], { sellerNote: 'Soon.' })
  t.ok(decideDetails(over, { expectedDeliveryDate: '2026-12-01' }))
})

t.test('a shipment of more than is left is told how much that is, in the unit of the line', (t) => {
  const before = order([line(1, 'a', '4', shipped('3')), line(2, 'b', '2.5', { unit: 'KGM' }), line(3, 'c', '2', shipped('2'))])
  const items = [1, 2, 3].map((number) => ({ line: number, quantity: decimal('9') }))
  t.throws(() => decideShipment(before, { items }, {}, { now: 1 }), {
    code: 'shipment-refused',
    faults: [
      'Line 1 (a) has only 1 unit left to ship, not 9.',
      'Line 2 (b) has only 2.5 kg left to ship, not 9.',
      'Line 3 (c) has nothing left to ship: all 2 units were shipped.'
    ].map((detail, i) => ({ code: 'not-left', detail, at: ['item', i + 1, 'quantity'] }))
  })
  t.end()
})
