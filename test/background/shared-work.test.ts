import t from 'tap'
import { shareWork } from '../../background/shared-work.ts'
import { stopClock } from '../stopped-clock.ts'

/** Work that ends when it is told to, and counts how often it began. */
function heldWork() {
  const held: (() => void)[] = []
  let begun = 0
  const work = () => {
    const mine = ++begun
    return new Promise<number>((resolve) => held.push(() => resolve(mine)))
  }
  const end = async () => {
    while (held.length === 0) await new Promise(setImmediate)
    held.shift()?.()
  }
  return { work, end, begun: () => begun }
}

t.test(
  'all who ask before the work begins share it; who asks later waits for the next, which begins after the first has ended',
  async (t) => {
    const { work, end, begun } = heldWork()
    const ask = shareWork(work)
    const first = [ask(), ask(), ask()]
    while (begun() === 0) await new Promise(setImmediate)
    const later = [ask(), ask()]
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    t.equal(begun(), 1)
    await end()
    t.same(await Promise.all(first), [1, 1, 1])
    await end()
    t.same(await Promise.all(later), [2, 2])
  }
)

t.test('who asks all the time lets it work for a twentieth of the time', async (t) => {
  const [took, begun] = [10, performance.now()]
  let works = 0
  const ask = shareWork(async () => {
    works++
    const end = performance.now() + took
    while (performance.now() < end);
  })
  for (let i = 0; i < 5; i++) await ask()
  t.equal(works, 5)
  t.ok(performance.now() - begun >= 4 * 20 * took, 'there was a rest after each')
})

t.test('the rest after long work is a second', async (t) => {
  const { pass } = stopClock(t)
  const rests: number[] = []
  const { work, end, begun } = heldWork()
  const ask = shareWork(work, async (milliseconds) => void rests.push(milliseconds))
  for (const [i, took] of [100, 40].entries()) {
    const asked = ask()
    while (begun() <= i) await new Promise(setImmediate)
    pass(took)
    await end()
    await asked
  }
  const last = ask()
  await end()
  await last
  t.same(rests, [0, 1_000, 800])
})

t.test('work that fails is told to all who asked for it, and the next one is tried', async (t) => {
  let works = 0
  const ask = shareWork(async () => {
    if (++works === 1) throw new Error('gone')
    return works
  })
  const asked = [ask(), ask()]
  for (const one of asked) await t.rejects(one, { message: 'gone' })
  t.equal(await ask(), 2)
})
