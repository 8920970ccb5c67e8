import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { RateTally } from '../../fairness/rate-tally.ts'

t.test('each caller is counted alone, and a charge adds to the count or takes from it', async (t) => {
  const tally = new RateTally({ window: 60_000, maxCallers: 10 })
  t.same(tally.look('a'), { current: 0, ttl: 60_000 })
  t.equal(tally.count('a').current, 1)
  t.equal(tally.count('a').current, 2)
  t.equal(tally.count('b').current, 1)
  t.equal(tally.charge('a', 5), 7)
  t.equal(tally.charge('a', -3), 4)
  t.equal(tally.charge('b', -9), 0, 'a count is never negative')
  const { current, ttl } = tally.look('a')
  t.equal(current, 4)
  t.ok(ttl > 0 && ttl <= 60_000)
})

t.test('a window that is over counts from the start, also for the charge of an earlier request', async (t) => {
  const tally = new RateTally({ window: 5, maxCallers: 10 })
  tally.count('a')
  tally.charge('a', 9)
  while (tally.look('a').current > 0) await sleep(1)
  t.equal(tally.charge('a', 2), 2)
})

t.test('the least recently active callers are forgotten', async (t) => {
  const tally = new RateTally({ window: 60_000, maxCallers: 2 })
  for (const caller of ['a', 'b', 'a', 'c']) tally.count(caller)
  t.same(
    ['a', 'b', 'c'].map((caller) => tally.look(caller).current),
    [2, 0, 1]
  )
})
