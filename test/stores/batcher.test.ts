import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { Batcher, type Settled } from '../../stores/batcher.ts'

type Run = (items: readonly number[]) => Promise<readonly Settled<number>[]>

const double: Run = async (items) => items.map((item) => ({ value: 2 * item }))
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

function makeBatcher(run: Run): { batcher: Batcher<number, number>; batches: (readonly number[])[] } {
  const batches: (readonly number[])[] = []
  const counted: Run = (items) => {
    batches.push(items)
    return run(items)
  }
  return { batcher: new Batcher({ run: counted, weight: () => 1, parallel: 1 }), batches }
}

t.test('the results of a batch are handed over a few in each turn, and the next batch does not wait for that', async (t) => {
  const { batcher, batches } = makeBatcher(double)
  let answered = 0
  const first = upTo(100).map((item) =>
    batcher.submit(item).then((result) => {
      answered += 1
      return result
    })
  )
  const inTurns: number[] = []
  let answeredBeforeNext: number | undefined
  let next: Promise<number> | undefined
  while (answered < 100) {
    const before = answered
    await nextTurn()
    inTurns.push(answered - before)
    if (answered > 0) next ??= batcher.submit(1_000)
    if (batches.length === 2) answeredBeforeNext ??= answered
  }
  t.ok(Math.max(...inTurns) <= 8, `${inTurns}`)
  t.ok(Number(answeredBeforeNext) < 100, `${answeredBeforeNext} were answered when the next batch began`)
  t.same(
    await Promise.all(first),
    upTo(100).map((item) => 2 * item)
  )
  t.equal(await next, 2_000)
})

t.test('it is closed when the last result is handed over', async (t) => {
  const { batcher } = makeBatcher(double)
  let answered = 0
  for (const item of upTo(50)) batcher.submit(item).then(() => answered++)
  await batcher.close()
  t.equal(answered, 50)
  await t.rejects(batcher.submit(1), { code: 'store-unavailable' })
})

t.test('when a batch fails, each item is tried alone, and only those that fail are refused', async (t) => {
  const { batcher, batches } = makeBatcher(async (items) => {
    if (items.includes(3)) throw new Error('not 3')
    return double(items)
  })
  const outcomes = await Promise.allSettled(upTo(5).map((item) => batcher.submit(item)))
  t.match(outcomes, [{ value: 0 }, { value: 2 }, { value: 4 }, { reason: { message: 'not 3' } }, { value: 8 }])
  t.same(batches, [[0, 1, 2, 3, 4], [0], [1], [2], [3], [4]])
})

t.test('an item without a result is refused, and no other item gets a wrong one', async (t) => {
  const { batcher } = makeBatcher(async (items) => {
    if (items.length > 1) throw new Error('each alone')
    return items.includes(1) ? [] : double(items)
  })
  const outcomes = await Promise.allSettled(upTo(4).map((item) => batcher.submit(item)))
  t.match(outcomes, [{ value: 0 }, { reason: { message: /without a result/ } }, { value: 4 }, { value: 6 }])
})

t.test('when the database cannot be reached, nothing is tried again', async (t) => {
  const { batcher, batches } = makeBatcher(async () => {
    throw new DomainError('store-unavailable', 'it is away')
  })
  const outcomes = await Promise.allSettled(upTo(3).map((item) => batcher.submit(item)))
  for (const outcome of outcomes) t.match(outcome, { reason: { code: 'store-unavailable' } })
  t.equal(batches.length, 1)
})
