import t from 'tap'
import { Quota } from '../../fairness/quota.ts'

const from = (name: string, network = name) => ({ name, network })

t.test('a caller has its part, and all callers together have the whole', async (t) => {
  const quota = new Quota({ total: 10, perCaller: 4 })
  t.equal(quota.acquire(from('a'), 4), undefined)
  t.equal(quota.acquire(from('a'), 1), 'perCaller')
  t.equal(quota.acquire(from('b'), 4), undefined)
  t.equal(quota.acquire(from('c'), 3), 'total')
  quota.release(from('a'), 4)
  t.equal(quota.acquire(from('c'), 3), undefined)
  t.equal(quota.acquire(from('a'), 3), undefined)
})

t.test('a caller who has nothing may have one thing that is larger than its part', async (t) => {
  const quota = new Quota({ total: 10, perCaller: 4 })
  t.equal(quota.acquire(from('a'), 6), undefined)
  t.equal(quota.acquire(from('a'), 1), 'perCaller')
  t.equal(quota.acquire(from('b'), 6), 'total')
  quota.release(from('a'), 6)
  t.equal(quota.acquire(from('b'), 6), undefined)
})

t.test('all callers of a network have a part together', async (t) => {
  const quota = new Quota({ total: 20, perNetwork: 6, perCaller: 4 })
  t.equal(quota.acquire(from('a', 'x'), 4), undefined)
  t.equal(quota.acquire(from('b', 'x'), 3), 'perNetwork')
  t.equal(quota.acquire(from('b', 'x'), 2), undefined)
  t.equal(quota.acquire(from('b', 'y'), 2), undefined, 'a caller has its part in all networks together')
  t.equal(quota.acquire(from('b', 'y'), 1), 'perCaller')
  quota.release(from('a', 'x'), 4)
  t.equal(quota.acquire(from('c', 'x'), 4), undefined)
})

t.test('a caller that has little is refused only when its network, or all together, have half as much again', async (t) => {
  const quota = new Quota({ total: 12, perNetwork: 6, perCaller: 4, small: 1 })
  const all = [from('1', 'x'), from('2', 'y'), from('3', 'z')]
  for (let round = 0; round < 3; round++) {
    for (const large of all) t.equal(quota.acquire(large, 4), undefined)
    t.equal(quota.acquire(from('a', 'w'), 2), 'total')
    t.equal(quota.acquire(from('a', 'x'), 3), 'perNetwork')
    t.equal(quota.acquire(from('1', 'x'), 1), 'perCaller', 'it has more already')
    const small = [...'abcde'].map((name) => from(name, 'x'))
    for (const one of small) t.equal(quota.acquire(one, 1), undefined)
    t.equal(quota.acquire(from('f', 'x'), 1), 'perNetwork', 'its network has 9')
    t.equal(quota.acquire(from('f', 'w'), 1), undefined)
    t.equal(quota.acquire(from('g', 'w'), 1), 'total', 'all have 18')
    for (const large of all) quota.release(large, 4)
    for (const one of [...small, from('f', 'w')]) quota.release(one, 1)
  }
})

t.test('what is larger than all callers may have together is acquired when nothing else is', async (t) => {
  const quota = new Quota({ total: 10, perNetwork: 6, perCaller: 4 })
  t.equal(quota.acquire(from('a'), 1), undefined)
  t.equal(quota.acquire(from('b'), 11), 'total')
  quota.release(from('a'), 1)
  t.equal(quota.acquire(from('b'), 11), undefined)
  t.equal(quota.acquire(from('a'), 1), 'total')
  quota.release(from('b'), 11)
  t.equal(quota.acquire(from('a'), 1), undefined)
})
