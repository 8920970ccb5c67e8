import t from 'tap'
import { canBecome, firstStatus } from '../../domain/order.ts'

t.test('a new order is accepted, or waits for the seller who accepts orders by hand', async (t) => {
  t.equal(firstStatus('auto'), 'accepted')
  t.equal(firstStatus('manual'), 'received')
  t.ok(canBecome(firstStatus('manual'), 'accepted'))
})
