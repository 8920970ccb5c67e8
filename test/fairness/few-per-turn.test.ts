import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { FewPerTurn } from '../../fairness/few-per-turn.ts'

t.test('few calls are made in a turn of the event loop, and callers take turns with the rest', async (t) => {
  const calls = new FewPerTurn(8)
  const made: string[] = []
  for (let i = 0; i < 20; i++) calls.add('a', () => made.push('a'))
  const atOnce = made.length
  t.equal(atOnce, 8)
  calls.add('b', () => made.push('b'))
  await turnOfTheLoop()
  t.equal(made.length, 2 * atOnce)
  t.ok(made.includes('b'), 'b does not wait for all of a')
  while (made.length < 21) await turnOfTheLoop()
  t.same(made.filter((caller) => caller === 'a').length, 20)
})

t.test('calls that come in a turn whose calls are all made wait for a later turn', async (t) => {
  const calls = new FewPerTurn(8)
  let made = 0
  const add = (count: number) => {
    for (let i = 0; i < count; i++) calls.add('a', () => made++)
  }
  add(1_000)
  const atOnce = made
  await turnOfTheLoop()
  add(1_000)
  t.equal(made, 2 * atOnce)
})

t.test('a call that comes alone is made at once', async (t) => {
  const calls = new FewPerTurn(8)
  for (const turn of [1, 2, 3]) {
    let isMade = false
    calls.add('a', () => (isMade = true))
    t.ok(isMade, `turn ${turn}`)
    await turnOfTheLoop()
  }
})
