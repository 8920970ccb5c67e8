import t from 'tap'
import { BatchQueue, type Queued } from '../../stores/batch-queue.ts'
import { changedOrder, commandSize, senderOf } from '../../stores/commands.ts'
import type { WriteCommand } from '../../stores/sqlite/write-verbs.ts'
import { draft, item, placing, purchase } from './fixtures.ts'

const newQueue = () => new BatchQueue<WriteCommand>({ weight: commandSize, orderOf: changedOrder, senderOf })
const pending = (item: WriteCommand) => ({ item, resolve: () => {}, reject: () => {} })

/** How many of a command wait before one more is refused, and how many of them go at once. */
function room(command: WriteCommand): { waiting: number; batch: number } {
  const queue = newQueue()
  let waiting = 0
  try {
    for (; waiting < 20_000; waiting++) queue.add(pending(command))
  } catch {
    return { waiting, batch: queue.takeBatch().length }
  }
  throw new Error('the queue takes any number')
}

const place = (order = purchase([item('a')]), sender = 'somebody'): WriteCommand => ({
  verb: 'placeOrder',
  args: [placing('a', 1, { order, sender })]
})
const linesOf = (count: number) => purchase(Array.from({ length: count }, () => item('a')))

t.test('the commands of a queue, their lines and the length of their texts are bounded', async (t) => {
  t.same(room({ verb: 'deleteProduct', args: ['a', {}] }), { waiting: 10_000, batch: 2_000 })
  t.same(room(place()), { waiting: 10_000, batch: 1_000 })
  t.same(room(place(linesOf(999))), { waiting: 250, batch: 2 })
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
  const queue = newQueue()
  const huge = place(linesOf(300_000))
  t.doesNotThrow(() => queue.add(pending(huge)))
  t.throws(() => queue.add(pending(huge)), { code: 'store-overloaded' })
  t.equal(queue.takeBatch().length, 1)
  t.doesNotThrow(() => queue.add(pending(huge)))
})

t.test('however many large commands wait, there is room for small ones', async (t) => {
  const queue = newQueue()
  queue.add(pending(place(linesOf(300_000))))
  for (let i = 0; i < 10_000; i++) queue.add(pending(place()))
  t.throws(() => queue.add(pending(place())), { code: 'store-overloaded' })
})

const large = place(linesOf(2_000))
const change = (id: string, sender = 'somebody'): WriteCommand => ({ verb: 'setOrderStatus', args: [id, 'shipped', {}, { sender }] })
/** A change that is large by what it sends. */
const rewrite = (id: string, sender = 'somebody'): WriteCommand => ({
  verb: 'changeOrder',
  args: [id, linesOf(2_000), {}, { sender }]
})

/** The numbers of the commands in each batch, in the order in which they were added. */
function drain(queue: BatchQueue<WriteCommand>): number[][] {
  return Array.from({ length: queue.length }, () => {
    const batch = queue.takeBatch()
    for (const queued of batch) queue.finish(queued)
    return batch.map(({ number }) => number)
  }).filter(({ length }) => length > 0)
}

function filled(commands: readonly WriteCommand[]): BatchQueue<WriteCommand> {
  const queue = newQueue()
  for (const command of commands) queue.add(pending(command))
  return queue
}

t.test('a small command waits for one batch of large ones, and large ones take turns with small ones', async (t) => {
  t.same(drain(filled([large, large, large, place(), place()])), [[3, 4], [0], [1], [2]])
  const queue = filled([large, large, large])
  t.same(
    queue.takeBatch().map(({ number }) => number),
    [0]
  )
  for (let i = 0; i < 1_001; i++) queue.add(pending(place()))
  t.same(
    drain(queue).map((numbers) => [numbers.length, numbers[0]]),
    [
      [1_000, 3],
      [1, 1],
      [1, 1_003],
      [1, 2]
    ]
  )
})

/** Ends a batch: those of its commands that are found to be large are put back. */
function end(queue: BatchQueue<WriteCommand>, batch: readonly Queued<WriteCommand, unknown>[], isLarge: (number: number) => boolean): void {
  for (const queued of batch) {
    if (isLarge(queued.number)) queue.putBack(queued, 10_000)
    else queue.finish(queued)
  }
}

t.test('the commands of one order are done one after the other, in the order of arrival', async (t) => {
  t.same(drain(filled([rewrite('x'), change('x'), change('y')])), [[2], [0], [1]])
  t.same(drain(filled([change('x'), rewrite('x'), change('x'), rewrite('x'), change('x')])), [[0], [1], [2], [3], [4]])
  t.same(drain(filled([change('x', 'buyer'), change('x', 'seller'), rewrite('x', 'buyer'), change('x', 'seller')])), [[0], [1], [2], [3]])
})

t.test('a command that is found to be large goes before a later one of the same order', async (t) => {
  for (const later of [change('x'), rewrite('x'), rewrite('x', 'other')]) {
    const queue = filled([change('x'), change('y')])
    const batch = queue.takeBatch()
    queue.add(pending(later))
    end(queue, batch, (number) => number === 0)
    t.same(drain(queue), [[0], [2]])
  }
})

t.test('a command that waits for another one of its order is in no turn, and holds up no other of its sender', async (t) => {
  const queue = filled([...Array.from({ length: 3 }, () => rewrite('x', 'buyer')), rewrite('x', 'seller'), rewrite('y', 'seller')])
  t.same(drain(queue), [[0], [4], [1], [2], [3]])
})

t.test('no more large commands than may wait are put back', async (t) => {
  const queue = newQueue()
  const taken = Array.from({ length: 6 }, (_, batch) => {
    for (let i = 0; i < 2_000; i++) queue.add(pending(change(`${batch} ${i}`)))
    return queue.takeBatch()
  })
  t.throws(() => end(queue, taken.flat(), () => true), { code: 'store-overloaded' })
  t.equal(queue.length, 10_000)
})

t.test('a write of an order waits while another write of that order runs', async (t) => {
  const queue = filled([change('x'), change('y')])
  const batch = queue.takeBatch()
  for (const command of [change('x'), rewrite('y'), change('z'), place()]) queue.add(pending(command))
  const numbers = () => queue.takeBatch().map(({ number }) => number)
  t.same(numbers(), [4, 5])
  t.same(numbers(), [], 'nothing else may go')
  end(queue, batch, () => false)
  t.same([numbers(), numbers()], [[3], [2]])
})

t.test('senders take turns, whatever they send', async (t) => {
  const ids = Array.from({ length: 8 }, (_, i) => `${i}`)
  for (const [make, crowd] of [
    [rewrite, 'large'],
    [change, 'small']
  ] as const) {
    const heavy = crowd === 'large' ? 2_000 : 249
    const queue = filled([...ids.map((id) => make(id, 'crowd')), by('one', heavy), make('other', 'other')])
    t.same(drain(queue).flat().slice(0, 4), [0, 8, 9, 1], `${crowd} changes`)
  }
  const commands: readonly WriteCommand[] = [
    place(),
    { verb: 'changeOrder', args: ['x', linesOf(1), {}, { sender: 'somebody' }] },
    { verb: 'shipOrder', args: ['x', {}, {}, { sender: 'somebody' }] },
    change('x')
  ]
  for (const command of commands) t.equal(senderOf(command), 'somebody')
})

t.test('writes without a sender have one turn together', async (t) => {
  const own = (id: string): WriteCommand => ({ verb: 'putProduct', args: [id, draft({ description: 'x'.repeat(300_000) }), {}] })
  const queue = filled([...['a', 'b', 'c'].map(own), by('one', 2_000), by('other', 2_000)])
  t.same(drain(queue).flat(), [0, 3, 4, 1, 2])
})

const by = (sender: string, lines: number) => place(linesOf(lines), sender)

for (const [size, lines, perBatch] of [
  ['large', 2_000, 1],
  ['small', 249, 8]
] as const) {
  t.test(`senders of ${size} orders take turns, however many orders one of them sends`, async (t) => {
    const queue = filled(Array.from({ length: 40 }, () => by('crowd', lines)))
    const first = queue.takeBatch()
    t.equal(first.length, perBatch)
    for (const sender of ['one', 'other', 'one']) queue.add(pending(by(sender, lines)))
    const rest = drain(queue).flat()
    const after = [perBatch, 40, 41, perBatch + 1, 42, perBatch + 2]
    t.same(rest.slice(0, after.length), after)
    t.same(rest.slice(after.length), [...Array(40).keys()].slice(perBatch + 3), 'the orders of each stay in the order of arrival')
  })
}

t.test('orders that come later delay nobody who waits', async (t) => {
  const queue = filled([...Array.from({ length: 3 }, () => by('patient', 2_000)), by('other', 2_000)])
  const taken: string[] = []
  for (let i = 0; i < 7; i++) {
    const [next] = queue.takeBatch()
    if (next) taken.push(next.sender)
    queue.add(pending(by(`newcomer ${i}`, 2_000)))
  }
  t.same(taken, ['patient', 'other', 'patient', 'newcomer 0', 'newcomer 1', 'patient', 'newcomer 2'])
})

t.test('orders that were put back go before those that came meanwhile', async (t) => {
  const queue = filled([by('repeats', 1), by('one', 1), by('other', 1)])
  const batch = queue.takeBatch()
  queue.add(pending(by('repeats', 1)))
  queue.add(pending(by('one', 1)))
  for (const queued of batch.slice(1)) queue.putBack(queued, 0)
  t.same(drain(queue), [[1, 2, 3, 4]])
})

t.test('orders that are found to be large take turns with the large orders of others', async (t) => {
  const queue = filled(Array.from({ length: 20 }, () => by('repeats', 1)))
  const batch = queue.takeBatch()
  end(queue, batch, (number) => number > 0)
  queue.add(pending(by('other', 2_000)))
  t.same(drain(queue).flat().slice(0, 3), [1, 20, 2])
})

t.test('orders that are found to be large take turns, also when a large order of their sender has come meanwhile', async (t) => {
  const queue = filled(Array.from({ length: 20 }, () => by('repeats', 1)))
  const batch = queue.takeBatch()
  for (const sender of ['repeats', 'other', 'other']) queue.add(pending(by(sender, 2_000)))
  end(queue, batch, () => true)
  t.same(drain(queue).flat().slice(0, 5), [20, 21, 0, 22, 1])
})

/** How many orders of a sender a queue takes. */
function fill(queue: BatchQueue<WriteCommand>, sender: string, lines: number): number {
  for (let count = 0; ; count++) {
    try {
      queue.add(pending(by(sender, lines)))
    } catch (error) {
      t.match(error, { code: 'store-overloaded' })
      return count
    }
  }
}

t.test('a sender whose orders fill the queue takes no room from others', async (t) => {
  for (const lines of [1, 2_000]) {
    const queue = newQueue()
    const part = Math.floor(fill(queue, 'crowd', lines) / 25)
    t.ok(part > 0)
    for (const other of ['one', 'other']) t.equal(fill(queue, other, lines), part)
  }
})

t.test('however many senders there are, what waits is bounded, and there is room again when some of it is taken', async (t) => {
  for (const lines of [1, 2_000]) {
    const queue = newQueue()
    const ofOne = fill(queue, 'crowd', lines)
    for (let sender = 0; fill(queue, `${sender}`, lines) > 0; sender++) t.ok(sender < 100)
    t.ok(queue.length > 1.9 * ofOne && queue.length <= 2 * ofOne + 2, `${queue.length} when ${ofOne} of one sender fit`)
    queue.takeBatch()
    t.ok(fill(queue, 'newcomer', lines) > 0)
  }
})
