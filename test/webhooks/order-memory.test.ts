import t from 'tap'
import { OrderMemory } from '../../webhooks/order-memory.ts'
import { deferred } from './deferred.ts'

const never = new AbortController().signal

/** Work that ends when it is told to. */
function held(memory: OrderMemory, customer: string, weight: number, signal = never) {
  const { promise, resolve } = deferred()
  const work = { isRunning: false, end: resolve, done: Promise.resolve() }
  work.done = memory.with(customer, weight, signal, () => {
    work.isRunning = true
    return promise
  })
  return work
}
const running = (...works: readonly { readonly isRunning: boolean }[]) => works.map(({ isRunning }) => isRunning)
const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('a customer with more than its share waits alone, and events with a small order, or none, never wait', async (t) => {
  const memory = new OrderMemory({ total: 100, perCustomer: 30, small: 5 })
  const slow = [held(memory, 'slow', 20), held(memory, 'slow', 20), held(memory, 'slow', 20)]
  const [other, light, small] = [held(memory, 'other', 30), held(memory, 'slow', 0), held(memory, 'slow', 5)]
  await settled()
  t.same(running(...slow, other, light, small), [true, false, false, true, true, true])
  slow[0]?.end()
  await slow[0]?.done
  await settled()
  t.same(running(...slow), [true, true, false])
})

t.test('customers take turns for what is left, and an order that is larger than everything fits alone', async (t) => {
  const memory = new OrderMemory({ total: 50, perCustomer: 50, small: 5 })
  const [first, again, newcomer, huge] = [held(memory, 'a', 50), held(memory, 'a', 50), held(memory, 'b', 50), held(memory, 'c', 999)]
  const order = [first, newcomer, huge, again]
  for (const [i, work] of order.entries()) {
    await settled()
    t.same(
      running(...order),
      order.map((_, n) => n <= i)
    )
    work.end()
    await work.done
  }
})

t.test('a wait can be ended, and leaves nothing behind', async (t) => {
  const memory = new OrderMemory({ total: 50, perCustomer: 50, small: 5 })
  const client = new AbortController()
  const [first, left, next] = [held(memory, 'a', 40), held(memory, 'b', 50, client.signal), held(memory, 'c', 10)]
  await settled()
  t.same(running(first, left, next), [true, false, false], 'nobody starts before the one who is next')
  client.abort(new Error('left'))
  await t.rejects(left.done, { message: 'left' })
  await settled()
  t.same(running(first, left, next), [true, false, true])
  await t.rejects(
    memory.with('b', 0, client.signal, async () => {}),
    { message: 'left' }
  )
})
