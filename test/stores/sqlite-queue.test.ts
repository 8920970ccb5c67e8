import t from 'tap'
import { Queue } from '../../stores/sqlite/queue.ts'
import type { WriteCommand } from '../../stores/sqlite/writes.ts'
import { draft, item, placing, purchase } from './fixtures.ts'

/** How many of a command wait before one more is refused, and how many of them go at once. */
function room(command: WriteCommand): { waiting: number; batch: number } {
  const queue = new Queue()
  let waiting = 0
  try {
    for (; waiting < 20_000; waiting++) {
      queue.checkRoom(command)
      queue.add({ command, resolve: () => {}, reject: () => {} })
    }
  } catch {
    return { waiting, batch: queue.takeBatch().length }
  }
  throw new Error('the queue takes any number')
}

const place = (order = purchase([item('a')])): WriteCommand => ({ verb: 'placeOrder', args: [placing('a', 1, { order })] })

t.test('what waits is bounded in commands, in lines and in the length of texts', async (t) => {
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
  const queue = new Queue()
  const huge = place(purchase(Array.from({ length: 300_000 }, () => item('a'))))
  t.doesNotThrow(() => queue.checkRoom(huge))
  queue.add({ command: huge, resolve: () => {}, reject: () => {} })
  t.throws(() => queue.checkRoom(place()), { code: 'store-overloaded' })
  t.equal(queue.takeBatch().length, 1)
  t.doesNotThrow(() => queue.checkRoom(place()))
})
