import t from 'tap'
import { FairLimiter, type QuotaExceeded } from '../../fairness/fair-limiter.ts'

/** Work that runs until the test ends it. */
function makeWork(turns: FairLimiter) {
  const running: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => async () => {
    running.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    running.splice(running.indexOf(name), 1)
    return name
  }
  return {
    running,
    start: (caller: string, name: string) => turns.run(caller, work(name)),
    goOn: (caller: string, name: string) => turns.goOn(caller, work(name)),
    end: (name: string) => ends.get(name)?.()
  }
}

const unbounded = { total: 100, perCaller: 100 }

t.test('no caller can occupy every running slot', async (t) => {
  const { running, start, end } = makeWork(new FairLimiter({ running: { total: 3, perCaller: 2 }, waiting: unbounded }))
  const all = [start('a', 'a1'), start('a', 'a2'), start('a', 'a3'), start('b', 'b1')]
  t.same(running, ['a1', 'a2', 'b1'])
  end('b1')
  await all[3]
  t.same(running, ['a1', 'a2'], 'what is free stays free for others')
  end('a1')
  await all[0]
  t.same(running, ['a2', 'a3'])
})

t.test('callers take turns, however much one of them has waiting', async (t) => {
  const turns = new FairLimiter({ running: { total: 1, perCaller: 1 }, waiting: unbounded })
  const order: string[] = []
  const work = (name: string) => turns.run(name.charAt(0), async () => order.push(name))
  await Promise.all(['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(work))
  t.same(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})

t.test('waiting work is bounded, for one caller and for all', async (t) => {
  const { start, end } = makeWork(new FairLimiter({ running: { total: 1, perCaller: 1 }, waiting: { total: 3, perCaller: 2 } }))
  const taken = [start('a', 'a1'), start('a', 'a2'), start('a', 'a3'), start('b', 'b1')]
  await t.rejects(start('a', 'a4'), { limit: 'perCaller' } as QuotaExceeded)
  await t.rejects(start('c', 'c1'), { limit: 'total' } as QuotaExceeded)
  for (const name of ['a1', 'a2', 'b1', 'a3']) {
    // Each begins when the one before it has ended.
    const ticking = setInterval(() => end(name), 1)
    await taken[['a1', 'a2', 'a3', 'b1'].indexOf(name)]
    clearInterval(ticking)
  }
  t.equal(await Promise.race([taken[0], start('c', 'c2')]), 'a1')
  end('c2')
})

t.test('failed work makes room like successful work', async (t) => {
  const turns = new FairLimiter({ running: { total: 1, perCaller: 1 }, waiting: unbounded })
  await t.rejects(
    turns.run('a', () => Promise.reject(new Error('no'))),
    { message: 'no' }
  )
  t.equal(await turns.run('a', async () => 1), 1)
})

t.test('work that continues a task goes before all work that waits to begin', async (t) => {
  const { running, start, goOn, end } = makeWork(new FairLimiter({ running: { total: 2, perCaller: 1 }, waiting: unbounded }))
  const all = [start('a', 'a1'), start('b', 'b1'), start('c', 'c1'), start('d', 'd1'), goOn('a', 'a2'), goOn('e', 'e1')]
  t.same(running, ['a1', 'b1'])
  end('b1')
  await all[1]
  t.same(running, ['a1', 'e1'], 'a caller that goes on has no more at a time than one that begins')
  end('a1')
  await all[0]
  t.same(running, ['e1', 'a2'])
  for (const [i, name, left] of [
    [5, 'e1', ['a2', 'c1']],
    [4, 'a2', ['c1', 'd1']]
  ] as const) {
    end(name)
    await all[i]
    t.same(running, left)
  }
})

t.test('callers take turns to continue their tasks, however many one of them has', async (t) => {
  const { running, start, goOn, end } = makeWork(new FairLimiter({ running: { total: 1, perCaller: 1 }, waiting: unbounded }))
  const all = [start('a', 'a1'), ...['a2', 'a3', 'a4'].map((name) => goOn('a', name)), goOn('b', 'b1'), goOn('b', 'b2')]
  const order: string[] = []
  for (const name of ['a1', 'a2', 'b1', 'a3', 'b2', 'a4']) {
    order.push(...running)
    end(name)
    await new Promise(setImmediate)
  }
  t.same(order, ['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
  await Promise.all(all)
})
