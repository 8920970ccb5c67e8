import t from 'tap'
import { DomainError, LargeRead, PositionError } from '../../domain/errors.ts'
import type { Placed } from '../../domain/store.ts'
import type { Command } from '../../stores/commands.ts'
import { packOutcomes, unpackOutcomes } from '../../stores/crossing.ts'
import { fromFailure, toFailure } from '../../stores/outcomes.ts'
import { item, placing, purchase } from './fixtures.ts'

/** An error as it is on the other side of a thread. */
const crossed = (error: unknown) => fromFailure(structuredClone(toFailure(error)), 'placeOrder')

t.test('a refusal of the shop crosses between threads with all its parts', async (t) => {
  const faults = [{ code: 'out-of-stock' as const, at: ['item', 1, 'quantity'], detail: 'None is on hand.' }]
  const cause = Object.assign(new RangeError('too far'), { code: 'E1' })
  const error = new DomainError('order-refused', 'Refused.', { faults, orderId: 'o', cause })
  const other = crossed(error)
  t.ok(other instanceof DomainError)
  t.match(other, { code: 'order-refused', message: 'Refused.', faults, orderId: 'o' })
  t.match(other.cause, { name: 'RangeError', message: 'too far', code: 'E1', stack: cause.stack })
  t.ok(other.cause instanceof Error, 'so that the log has its stack')
  t.equal(crossed(new DomainError('store-unavailable', 'Gone.', { cause: 'the disk is full' })).cause, 'the disk is full')
  t.equal(crossed(new DomainError('order-refused', 'Refused.')).cause, undefined)
})

t.test('the size of a large order that is named crosses, too', async (t) => {
  t.match(crossed(new LargeRead(50_000)), { name: 'LargeRead', size: 50_000 })
})

t.test('a position that is not of the list crosses as such', async (t) => {
  t.match(crossed(new PositionError('not an order of this list')), { name: 'PositionError', message: 'not an order of this list' })
})

t.test('any other error crosses as the cause of one that names the verb', async (t) => {
  const error = new TypeError('a mistake')
  t.match(crossed(error), { message: /placeOrder failed/, cause: { name: 'TypeError', message: 'a mistake', stack: error.stack } })
  t.notOk(crossed(error) instanceof DomainError)
  t.match(crossed('text').cause, { message: 'text' })
})

t.test('a large order crosses as bytes, which are moved', async (t) => {
  const { order: sent } = placing('a', 1, { order: purchase([item('a')], { notes: Array.from({ length: 20 }, () => '螺'.repeat(2_000)) }) })
  const order = { ...sent, id: 'o', version: 1 }
  const command: Command = { verb: 'placeOrder', args: [{ order: sent, status: 'accepted' }] }
  const { outcomes, moved } = packOutcomes([command], [{ value: { order, outcome: 'placed', replayed: false } }])
  t.equal(moved[0]?.byteLength, Buffer.byteLength(JSON.stringify(order)))
  const [outcome] = unpackOutcomes<Placed>([command], structuredClone(outcomes, { transfer: [...moved] as ArrayBuffer[] }))
  t.same(
    moved.map(({ byteLength }) => byteLength),
    [0]
  )
  if (!outcome || !('value' in outcome)) throw new Error('the order was placed')
  t.same({ ...outcome.value.order }, order)
})
