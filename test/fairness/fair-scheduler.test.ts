import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { FairScheduler } from '../../fairness/fair-scheduler.ts'
import { stopClock } from '../stopped-clock.ts'

/** Stops the clock that a scheduler reads. */
function stopTime(t: Test) {
  const { pass } = stopClock(t)
  /** Takes all the time in which a scheduler starts work before it lets the event loop turn. */
  const work = () => pass(8)
  return { work }
}

t.test('work begins at once while the turn has time left', (t) => {
  stopTime(t)
  const scheduler = new FairScheduler()
  const begun: string[] = []
  for (const name of ['a1', 'a2', 'b1']) scheduler.schedule(name.charAt(0), () => begun.push(name))
  t.same(begun, ['a1', 'a2', 'b1'])
  t.end()
})

t.test('callers take turns: the work of one does not wait for all that another has sent before', async (t) => {
  const { work } = stopTime(t)
  const scheduler = new FairScheduler()
  const begun: string[] = []
  const schedule = (name: string) =>
    scheduler.schedule(name.charAt(0), () => {
      begun.push(name)
      work()
    })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) schedule(name)
  t.same(begun, ['a1'])
  while (begun.length < 6) await turnOfTheLoop()
  t.same(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'a4'])
})

t.test('callers share the time: one whose work is short goes on until it has used as much as one whose work takes long', async (t) => {
  const { pass } = stopClock(t)
  const scheduler = new FairScheduler()
  const begun: string[] = []
  const schedule = (name: string, milliseconds: number) =>
    scheduler.schedule(name.charAt(0), () => {
      begun.push(name)
      pass(milliseconds)
    })
  schedule('a0', 30)
  for (let i = 1; i <= 3; i++) schedule(`a${i}`, 30)
  for (let i = 1; i <= 3; i++) schedule(`b${i}`, 8)
  while (begun.length < 7) await turnOfTheLoop()
  t.same(begun, ['a0', 'a1', 'b1', 'b2', 'b3', 'a2', 'a3'])
})

t.test('time that work takes after its start counts too: the event loop turns between long work', async (t) => {
  const { work } = stopTime(t)
  const scheduler = new FairScheduler()
  const turns: number[] = []
  let now = 0
  const counting = () => {
    now++
    if (turns.length < 5) setImmediate(counting)
  }
  counting()
  scheduler.schedule('a', work)
  for (let i = 0; i < 5; i++) {
    scheduler.schedule('a', () => {
      turns.push(now)
      Promise.resolve().then(work)
    })
  }
  while (turns.length < 5) await turnOfTheLoop()
  t.equal(new Set(turns).size, 5, String(turns))
})

t.test('work that follows from the work of a turn is done in that turn, but only once', async (t) => {
  const { work } = stopTime(t)
  const scheduler = new FairScheduler()
  const done: string[] = []
  const steps = (name: string) => {
    work()
    done.push(name)
    if (name.length < 4) scheduler.schedule(name.charAt(0), () => steps(`${name}+`))
  }
  for (const name of ['a', 'b']) scheduler.schedule(name, () => steps(name))
  while (done.length < 8) await turnOfTheLoop()
  t.same(done, ['a', 'a+', 'a++', 'b', 'b+', 'a+++', 'b++', 'b+++'])
})

t.test('work that goes on waits for the turns of others, but not for what its caller has not begun', async (t) => {
  const { work } = stopTime(t)
  const scheduler = new FairScheduler()
  const done: string[] = []
  const steps = (name: string, left: number) => {
    done.push(name)
    work()
    if (left > 0) scheduler.goOn(name.charAt(0), () => steps(`${name}+`, left - 1))
  }
  for (const name of ['a', 'A']) scheduler.schedule('a', () => steps(name, 2))
  scheduler.schedule('b', () => steps('b', 1))
  while (done.length < 8) await turnOfTheLoop()
  t.same(done, ['a', 'a+', 'b', 'a++', 'b+', 'A', 'A+', 'A++'])
})

t.test('work that nobody waits for goes on at once while the turn has time left', (t) => {
  const { work } = stopTime(t)
  const scheduler = new FairScheduler()
  const done: string[] = []
  scheduler.goOn('a', () => done.push('a1'))
  t.same(done, ['a1'])
  work()
  scheduler.goOn('a', () => done.push('a2'))
  t.same(done, ['a1'])
  t.end()
})

t.test('short work starts although other work waits, until the turn is too long', (t) => {
  const { work } = stopTime(t)
  const scheduler = new FairScheduler()
  const later = () => {}
  for (const caller of ['a', 'b', 'c']) scheduler.scheduleRead(caller, () => true)
  t.equal(scheduler.takeTurn('d', false, later), false, 'the third read waits, and other work behind it')
  t.equal(scheduler.takeTurn('d', true, later), true)
  work()
  t.equal(scheduler.takeTurn('d', true, later), false)
  t.end()
})

t.test('connections that have closed do not count as reads', (t) => {
  stopTime(t)
  const scheduler = new FairScheduler()
  let asked = 0
  for (const caller of ['a', 'b', 'c']) scheduler.scheduleRead(caller, () => ++asked === 0)
  t.equal(asked, 3)
  t.equal(
    scheduler.takeTurn('d', false, () => {}),
    true
  )
  t.end()
})
