import { test } from 'tap'
import { decideStock, type LockedItem } from '../../domain/inventory.ts'
import { decimal } from '../../domain/money.ts'

const item: LockedItem = {
  id: 'a',
  name: 'A',
  price: decimal('9.99'),
  unit: 'C62',
  backorder: false,
  deleted: false,
  onHand: decimal('5'),
  availability: 'in-stock',
  version: 3,
  stock: { version: 7, modifiedAt: 1000 }
}
const [two, five, none] = [decimal('2'), decimal('5'), decimal('0')]

test('an order gives the stock a new version, and the product none while it stays available', (t) => {
  t.strictSame(decideStock(item, two, 2000), { onHand: '3', stock: { version: 8, modifiedAt: 2000 } })
  t.match(decideStock(item, decimal('-2'), 2000), { onHand: '7', stock: { version: 8 } }, 'stock that goes back')
  t.equal(decideStock(item, none, 2000), undefined, 'taking nothing changes nothing')
  t.match(decideStock(item, two, 500), { stock: { version: 8, modifiedAt: 1000 } }, 'its time never goes back')
  t.end()
})

test('a product that shows another availability has a new version', (t) => {
  const sold = { onHand: '0', stock: { version: 8, modifiedAt: 2000 } }
  t.strictSame(decideStock(item, five, 2000), { ...sold, product: { availability: 'out-of-stock', version: 4 } })
  t.match(decideStock({ ...item, backorder: true }, five, 2000), { product: { availability: 'backorder' } })
  const empty = { ...item, onHand: none, availability: 'out-of-stock' as const }
  t.match(decideStock(empty, decimal('-1'), 2000), { onHand: '1', product: { availability: 'in-stock', version: 4 } })
  t.strictSame(decideStock({ ...item, deleted: true }, five, 2000), sold, 'a deleted product shows none')
  t.end()
})
