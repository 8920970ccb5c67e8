import t from 'tap'
import { FairQueue } from '../../fairness/fair-queue.ts'

t.test('callers take turns, however many items one of them has waiting', async (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item)
  queue.add('b', 'b1')
  queue.add('c', 'c1')
  t.same(
    Array.from({ length: 5 }, () => queue.take()),
    ['a1', 'b1', 'c1', 'a2', 'a3']
  )
  t.equal(queue.take(), undefined)
  t.equal(queue.isEmpty, true)
})

t.test('an item that nobody wants any more goes, and takes no turn', async (t) => {
  const queue = new FairQueue<string>()
  queue.add('a', 'a1')
  queue.add('b', 'b1')
  t.equal(queue.remove('a', 'a1'), true)
  t.equal(queue.remove('a', 'a1'), false)
  t.same([queue.take(), queue.take()], ['b1', undefined])
})

t.test('a caller who comes back waits behind those who came meanwhile', async (t) => {
  const queue = new FairQueue<string>()
  queue.add('a', 'a1')
  queue.take()
  queue.add('b', 'b1')
  queue.add('a', 'a2')
  t.same([queue.take(), queue.take()], ['b1', 'a2'])
})
