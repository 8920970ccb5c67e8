import fc from 'fast-check'
import t from 'tap'
import { defer } from '../../domain/deferred.ts'
import { commandSize } from '../../stores/commands.ts'
import { packCommand, unpackCommand } from '../../stores/crossing.ts'
import { Division } from '../../stores/division.ts'
import { laneOf } from '../../stores/sizes.ts'
import type { WriteCommand } from '../../stores/sqlite/write-verbs.ts'
import { item, placing, purchase } from './fixtures.ts'

t.test('a batch of large writes takes the first, and the others until the stored orders are enough', async (t) => {
  const division = new Division('large')
  const takes = (existing: number) => division.takes({ sent: 1, existing })
  t.same([takes(5_000), takes(0)], [true, false])
})

t.test('a batch of small writes takes none that is large, and the others until the stored orders are enough', async (t) => {
  const division = new Division('small')
  t.same([division.takes({ sent: 1, existing: 255 }), division.takes({ sent: 1, existing: 254 })], [false, true])
  const taken = Array.from({ length: 20 }, () => division.takes({ sent: 1, existing: 200 }))
  t.equal(taken.filter(Boolean).length, 9)
})

const order = fc
  .record({ lines: fc.integer({ min: 1, max: 300 }), note: fc.integer({ min: 0, max: 300 }), isDeferred: fc.boolean() })
  .map(({ lines, note, isDeferred }) => {
    const document = purchase(Array.from({ length: lines }, () => item('a', 1, note > 0 ? { notes: ['x'.repeat(note)] } : {})))
    return isDeferred ? defer<typeof document>(JSON.stringify(document)) : document
  })
const command: fc.Arbitrary<WriteCommand> = fc.oneof(
  order.map((order): WriteCommand => ({ verb: 'placeOrder', args: [placing('a', 1, { order })] })),
  order.map((order): WriteCommand => ({ verb: 'changeOrder', args: ['id', order, {}] })),
  fc.constant<WriteCommand>({ verb: 'setOrderStatus', args: ['id', 'cancelled', {}] })
)

t.test('what is postponed because it is large goes to the large ones of the queue', async (t) => {
  fc.assert(
    fc.property(command, fc.integer({ min: 0, max: 600 }), (command, existing) => {
      const isTaken = new Division('small').takes({ sent: commandSize(unpackCommand(packCommand(command))), existing })
      return isTaken || laneOf(commandSize(command) + existing) === 'large'
    })
  )
  t.pass('for every command')
})
