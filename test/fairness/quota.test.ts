import t from 'tap'
import { Quota } from '../../fairness/quota.ts'

t.test('a caller has its part, and all callers together have the whole', async (t) => {
  const quota = new Quota({ total: 10, perCaller: 4 })
  t.equal(quota.acquire('a', 4), undefined)
  t.equal(quota.acquire('a', 1), 'perCaller')
  t.equal(quota.acquire('b', 4), undefined)
  t.equal(quota.acquire('c', 3), 'total')
  quota.release('a', 4)
  t.equal(quota.acquire('c', 3), undefined)
  t.equal(quota.acquire('a', 3), undefined)
})

t.test('a caller who has nothing may have one thing that is larger than its part', async (t) => {
  const quota = new Quota({ total: 10, perCaller: 4 })
  t.equal(quota.acquire('a', 6), undefined)
  t.equal(quota.acquire('a', 1), 'perCaller')
  t.equal(quota.acquire('b', 6), 'total')
  quota.release('a', 6)
  t.equal(quota.acquire('b', 6), undefined)
})
