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

t.test('what is larger than the whole is had alone', async (t) => {
  const quota = new Quota({ total: 10, perNetwork: 6, perCaller: 4 })
  t.equal(quota.acquire('a', 12, 'x'), undefined)
  t.equal(quota.acquire('b', 1, 'y'), 'total')
  quota.release('a', 12, 'x')
  t.equal(quota.acquire('b', 1, 'y'), undefined)
  t.equal(quota.acquire('a', 12, 'x'), 'total')
})

t.test('all callers of a network have a part together', async (t) => {
  const quota = new Quota({ total: 20, perNetwork: 6, perCaller: 4 })
  t.equal(quota.acquire('a', 4, 'x'), undefined)
  t.equal(quota.acquire('b', 3, 'x'), 'perCaller')
  t.equal(quota.acquire('b', 2, 'x'), undefined)
  t.equal(quota.acquire('b', 2, 'y'), undefined, 'a caller has its part in all networks together')
  t.equal(quota.acquire('b', 1, 'y'), 'perCaller')
  quota.release('a', 4, 'x')
  t.equal(quota.acquire('c', 4, 'x'), undefined)
})

t.test('a caller with little always has it, until its network or all together have twice as much', async (t) => {
  const quota = new Quota({ total: 12, perNetwork: 6, perCaller: 4, always: 2 })
  for (const network of ['x', 'y', 'z']) t.equal(quota.acquire(`${network}1`, 4, network), undefined)
  t.equal(quota.acquire('a', 3, 'x'), 'perCaller')
  t.equal(quota.acquire('a', 3, 'w'), 'total')
  t.equal(quota.acquire('x1', 1, 'x'), 'perCaller', 'it has more already')
  for (const caller of ['a', 'b', 'c', 'd']) t.equal(quota.acquire(caller, 2, 'x'), undefined)
  t.equal(quota.acquire('a', 1, 'x'), 'perCaller')
  t.equal(quota.acquire('e', 1, 'x'), 'perCaller', 'its network has 12')
  t.equal(quota.acquire('e', 2, 'w'), undefined)
  t.equal(quota.acquire('f', 2, 'w'), undefined)
  t.equal(quota.acquire('g', 1, 'w'), 'total', 'all have 24')
})
