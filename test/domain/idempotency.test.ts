import t from 'tap'
import { keyRetention, replayed } from '../../domain/idempotency.ts'
import type { Order } from '../../domain/order.ts'

const key = { scope: 'guest /order', key: 'k', fingerprint: 'f' }
const order = { id: 'o' } as Order

t.test('a key that is new replays nothing', async (t) => {
  t.equal(replayed('order', key, undefined), undefined)
})

t.test('a key with the same request replays the first answer', async (t) => {
  t.same(replayed('order', key, { fingerprint: 'f', answer: { order, outcome: 'repeated' } }), {
    order,
    outcome: 'repeated',
    replayed: true
  })
})

t.test('a key with another request is refused', async (t) => {
  t.throws(() => replayed('order', key, { fingerprint: 'g', answer: { order, outcome: 'placed' } }), {
    code: 'idempotency-key-reused',
    message: 'This Idempotency-Key was sent before with another request. Send a new key with a new request.'
  })
})

t.test('a key is never answered with what was stored for another kind of request', async (t) => {
  t.throws(() => replayed('shipment', key, { fingerprint: 'f', answer: { order, outcome: 'placed' } }), /for no shipment/)
})

t.test('a key is remembered for at least the 24 hours that the interface promises', async (t) => {
  t.ok(keyRetention >= 24 * 60 * 60 * 1000)
})
