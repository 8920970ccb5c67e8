import t from 'tap'
import { canBecome, firstStatus, isActive, isOpen, type OrderStatus } from '../../domain/order.ts'

t.test('a new order is accepted, or waits for the seller who accepts orders by hand', async (t) => {
  t.equal(firstStatus('auto'), 'accepted')
  t.equal(firstStatus('manual'), 'received')
  t.ok(canBecome(firstStatus('manual'), 'accepted'))
})

t.test('an order is open until it ships, and active until it is rejected or cancelled', async (t) => {
  const expected: Readonly<Record<OrderStatus, readonly [boolean, boolean]>> = {
    received: [true, true],
    accepted: [true, true],
    shipped: [false, true],
    completed: [false, true],
    rejected: [false, false],
    cancelled: [false, false]
  }
  for (const [status, is] of Object.entries(expected)) t.same([isOpen(status as OrderStatus), isActive(status as OrderStatus)], is, status)
})
