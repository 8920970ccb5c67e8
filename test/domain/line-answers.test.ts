import t from 'tap'
import { decideLeniently } from '../../domain/lenient.ts'
import { changeLines } from '../../domain/line-changes.ts'
import { decimal } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import { emptyInventory, matchesOrder } from '../../domain/placing.ts'
import { item, purchase } from '../stores/fixtures.ts'

const byId = (id: string) => ({
  id,
  name: id,
  price: decimal('1'),
  unit: 'C62',
  backorder: false,
  onHand: decimal(id === 'none' ? '0' : '9'),
  deleted: false
})
const sent = purchase([item('a', 20, { lineId: '1' }), item('none', 2, { lineId: '2' }), item('b', 1, { lineId: '3' })])
const order: Order = {
  ...sent,
  ...decideLeniently(sent, { byId, byGtin: () => undefined }, 'EUR'),
  id: 'o',
  version: 1,
  status: 'accepted',
  placedAt: 0,
  modifiedAt: 0
}

t.test('a change of single lines knows the lines of which the order has something', async (t) => {
  const change = (lineId: string) => changeLines(order, purchase([item('a', 1, { lineId })]), [{ kind: 'deleted', lineId }])
  const { order: after, faults } = change('3')
  t.same(
    after.items.map(({ lineId, quantity }) => [lineId, quantity]),
    [['1', '9']]
  )
  t.same(faults, [])
  t.match(change('2').faults, [{ code: 'line-unknown' }])
})

t.test('an order says the same as its content, whatever was asked for', async (t) => {
  const as = (...items: Parameters<typeof purchase>[0]) => matchesOrder(purchase(items), order, emptyInventory, 'EUR')
  t.ok(as(item('a', 9, { lineId: '1' }), item('b', 1, { lineId: '3' })))
  t.notOk(as(item('a', 20, { lineId: '1' }), item('b', 1, { lineId: '3' })))
  t.notOk(as(item('a', 9, { lineId: '1' }), item('none', 2, { lineId: '2' }), item('b', 1, { lineId: '3' })))
})
