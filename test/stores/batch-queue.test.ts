import t from 'tap'
import { BatchQueue } from '../../stores/batch-queue.ts'
import { commandSize } from '../../stores/sqlite/command-size.ts'
import type { WriteCommand } from '../../stores/sqlite/write-verbs.ts'
import { draft, item, placing, purchase } from './fixtures.ts'

const pending = (item: WriteCommand) => ({ item, resolve: () => {}, reject: () => {} })

/** How many of a command wait before one more is refused, and how many of them go at once. */
function room(command: WriteCommand): { waiting: number; batch: number } {
  const queue = new BatchQueue(commandSize)
  let waiting = 0
  try {
    for (; waiting < 20_000; waiting++) queue.add(pending(command))
  } catch {
    return { waiting, batch: queue.takeBatch().length }
  }
  throw new Error('the queue takes any number')
}

const place = (order = purchase([item('a')])): WriteCommand => ({ verb: 'placeOrder', args: [placing('a', 1, { order })] })

t.test('the commands of a queue, their lines and the length of their texts are bounded', async (t) => {
  t.same(room({ verb: 'deleteProduct', args: ['a', {}] }), { waiting: 10_000, batch: 2_000 })
  t.same(room(place()), { waiting: 10_000, batch: 1_000 })
  t.same(room(place(purchase(Array.from({ length: 999 }, () => item('a'))))), { waiting: 250, batch: 2 })
  const text = 'x'.repeat(4_000)
  const heavy = [
    place(purchase([item('a')], { notes: Array(100).fill(text) })),
    place(purchase([item('a', 1, { notes: Array(100).fill(text) })])),
    place(purchase([item('a')], { extensions: Array(100).fill({ name: 'a', value: text }) }))
  ]
  for (const command of heavy) t.match(room(command), { waiting: 637, batch: 6 }, '400 KB each: 250 MB at most')
  const product = draft({ description: text, images: Array(100).fill('x'.repeat(1_600)) })
  for (const command of [
    { verb: 'createProduct', args: ['a', product] },
    { verb: 'putProduct', args: ['a', product, {}] },
    { verb: 'importProducts', args: [[{ id: 'a', draft: product }]] }
  ] as const satisfies readonly WriteCommand[]) {
    const { waiting } = room(command)
    t.ok(waiting > 1_400 && waiting < 1_700, `${waiting} of 160 KB`)
  }
})

t.test('a command that is larger than all that may wait is taken when nothing else waits', async (t) => {
  const queue = new BatchQueue(commandSize)
  const huge = place(purchase(Array.from({ length: 300_000 }, () => item('a'))))
  t.doesNotThrow(() => queue.add(pending(huge)))
  t.throws(() => queue.add(pending(place())), { code: 'store-overloaded' })
  t.equal(queue.takeBatch().length, 1)
  t.doesNotThrow(() => queue.add(pending(place())))
})
