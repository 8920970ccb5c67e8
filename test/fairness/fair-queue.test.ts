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

t.test('an item that was added first goes before all others of its caller, in the caller’s turn', (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'b1']) queue.add(item.charAt(0), item)
  queue.addFirst('a', 'a0')
  queue.addFirst('c', 'c1')
  t.same(
    Array.from({ length: 5 }, () => queue.take()),
    ['a0', 'b1', 'c1', 'a1', 'a2']
  )
  t.equal(queue.isEmpty, true)
  t.end()
})

t.test('an item that was removed takes no turn', async (t) => {
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

t.test('a newcomer goes before the caller who was served last, although more items of that caller wait', async (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item)
  t.equal(queue.take(), 'a1')
  for (const item of ['b1', 'b2']) queue.add('b', item)
  t.same(
    Array.from({ length: 5 }, () => queue.take()),
    ['b1', 'a2', 'b2', 'a3', undefined]
  )
})

t.test('the caller who has been served least is next, and callers who were served equally take turns', async (t) => {
  const served = new Map([['a', 5]])
  const queue = new FairQueue<string>((caller) => served.get(caller) ?? 0)
  for (const item of ['a1', 'a2']) queue.add('a', item)
  for (const item of ['b1', 'b2', 'b3']) queue.add('b', item)
  for (const item of ['c1', 'c2']) queue.add('c', item)
  t.same([queue.take(), queue.take(), queue.take()], ['b1', 'c1', 'b2'])
  served.set('b', 6)
  t.same([queue.take(), queue.take(), queue.take(), queue.take()], ['c2', 'a1', 'a2', 'b3'])
  t.equal(queue.take(), undefined)
})

t.test('of very many callers, few are compared for a turn, and each is compared in the end', async (t) => {
  let compared = 0
  const queue = new FairQueue<number>((caller) => {
    compared++
    return Number(caller)
  })
  for (let caller = 1_000; caller > 0; caller--) queue.add(String(caller), caller)
  const taken = Array.from({ length: 1_000 }, () => queue.take())
  t.ok(compared <= 32 * 1_000, `${compared} comparisons`)
  t.equal(taken[0], 969, 'the least of the first 32')
  t.equal(new Set(taken).size, 1_000)
})
