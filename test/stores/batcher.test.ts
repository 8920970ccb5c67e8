import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { Batcher, type Settled } from '../../stores/batcher.ts'
import type { Postponed } from '../../stores/outcomes.ts'
import type { LaneName } from '../../stores/sizes.ts'

type Run = (items: readonly number[], lane: LaneName) => Promise<readonly (Settled<number> | Postponed)[]>

const double = async (items: readonly number[]) => items.map((item) => ({ value: 2 * item }))
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

function makeBatcher(run: Run): { batcher: Batcher<number, number>; batches: (readonly number[])[] } {
  const batches: (readonly number[])[] = []
  const counted: Run = (items, lane) => {
    batches.push(items)
    return run(items, lane)
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
    await turnOfTheLoop()
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

t.test('an error that is not that of one item fails the whole batch, and nothing is tried again', async (t) => {
  let batches = 0
  const run = async () => {
    batches++
    throw new Error('canceled')
  }
  const batcher = new Batcher<number, number>({ run, weight: () => 1, parallel: 1, isOfAll: () => true })
  const outcomes = await Promise.allSettled(upTo(3).map((item) => batcher.submit(item)))
  for (const outcome of outcomes) t.match(outcome, { reason: { message: 'canceled' } })
  t.equal(batches, 1)
})

t.test('when the database cannot be reached, nothing is tried again', async (t) => {
  const { batcher, batches } = makeBatcher(async () => {
    throw new DomainError('store-unavailable', 'it is away')
  })
  const outcomes = await Promise.allSettled(upTo(3).map((item) => batcher.submit(item)))
  for (const outcome of outcomes) t.match(outcome, { reason: { code: 'store-unavailable' } })
  t.equal(batches.length, 1)
})

t.test('an item that is postponed is done in a later batch, and does not delay the answers to the others', async (t) => {
  const { batcher, batches } = makeBatcher(async ([first, ...rest]) => [
    ...(await double(first === undefined ? [] : [first])),
    ...rest.map(() => ({ postponed: 10_000 }))
  ])
  const answered: number[] = []
  const all = upTo(3).map((item) => batcher.submit(item).then((result) => answered.push(result)))
  await batcher.close()
  await Promise.all(all)
  t.same(answered, [0, 2, 4])
  t.same(batches, [[0, 1, 2], [1], [2]])
})

t.test('a small item that is submitted after many large changes is done before the last of them', async (t) => {
  const done: number[] = []
  // What the items below 100 change is large, which only the writer knows.
  const run: Run = async (items) => {
    const isLarge = items.map((item) => item < 100)
    const count = isLarge.indexOf(true) + 1 || items.length
    done.push(...items.slice(0, count))
    return [...(await double(items.slice(0, count))), ...isLarge.slice(count).map((large) => ({ postponed: large ? 10_000 : 0 }))]
  }
  const { batcher } = makeBatcher(run)
  const all = upTo(50).map((item) => batcher.submit(item))
  await all[0]
  await batcher.submit(100)
  t.ok(done.length < 6, `${done.length} were done`)
  await Promise.all(all)
  t.same(
    done.filter((item) => item < 100),
    upTo(50),
    'all in the order of arrival'
  )
})

t.test('small items wait for one large change at most, however many come that nobody has looked at', async (t) => {
  const done: number[] = []
  const run: Run = async (items, lane) => {
    const isDone = (item: number) => item >= 100 || (lane === 'large' && item === items[0])
    done.push(...items.filter(isDone))
    return items.map((item) => (isDone(item) ? { value: 2 * item } : { postponed: 10_000 }))
  }
  const { batcher } = makeBatcher(run)
  const large = upTo(20).map((item) => batcher.submit(item))
  for (const item of upTo(20)) {
    const before = done.length
    large.push(batcher.submit(50 + item))
    t.equal(await batcher.submit(100 + item), 2 * (100 + item))
    const largeOnes = done.slice(before).filter((number) => number < 100)
    t.ok(largeOnes.length <= 1, `${largeOnes} were done before`)
    await turnOfTheLoop()
  }
  await Promise.all(large)
  t.equal(done.length, 60)
})
