import t from 'tap'
import { TokenBuckets } from '../../fairness/token-buckets.ts'
import { stopClock } from '../stopped-clock.ts'

t.test('a caller takes a burst at once, and then what a second has, evenly', async (t) => {
  const { pass } = stopClock(t)
  const buckets = new TokenBuckets({ burst: 3, perSecond: 10, maxCallers: 2 })
  const take = (caller: string, times: number) => Array.from({ length: times }, () => buckets.take(caller))
  t.same(take('a', 4), [true, true, true, false])
  t.same(take('b', 1), [true], 'another has its own')
  pass(100)
  t.same(take('a', 2), [true, false], 'a tenth of a second brings one')
  pass(60_000)
  t.same(take('a', 4), [true, true, true, false], 'never more than the burst')
})

t.test('only the latest callers are remembered', async (t) => {
  stopClock(t)
  const buckets = new TokenBuckets({ burst: 1, perSecond: 1, maxCallers: 2 })
  for (const caller of ['a', 'b', 'c']) buckets.take(caller)
  t.same([buckets.take('c'), buckets.take('a')], [false, true])
})
