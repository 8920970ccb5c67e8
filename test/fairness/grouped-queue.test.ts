import t from 'tap'
import { GroupedQueue } from '../../fairness/grouped-queue.ts'

const guest = (name: string) => ({ name, group: 'guests' })
const customer = (name: string) => ({ name, group: 'customers' })

t.test('groups take turns, however many callers one of them has, and so do the callers of a group', async (t) => {
  const queue = new GroupedQueue<string>()
  for (const name of ['a', 'b', 'c']) for (const item of ['1', '2']) queue.add(guest(name), `${name}${item}`)
  for (const item of ['d1', 'd2']) queue.add(customer('d'), item)
  t.same(
    Array.from({ length: 8 }, () => queue.take()),
    ['a1', 'd1', 'b1', 'd2', 'c1', 'a2', 'b2', 'c2']
  )
  t.equal(queue.take(), undefined)
  t.equal(queue.isEmpty, true)
})

t.test('a group that comes while another one has had its turn is next', async (t) => {
  const queue = new GroupedQueue<string>()
  for (const name of ['a', 'b', 'c']) queue.add(guest(name), name)
  t.equal(queue.take(), 'a')
  queue.add(customer('d'), 'd')
  t.equal(queue.take(), 'd')
  queue.add(customer('e'), 'e')
  t.same([queue.take(), queue.take(), queue.take()], ['b', 'e', 'c'])
})

t.test('the caller of a group who has been served least is next', async (t) => {
  const served = new Map([['a', 2]])
  const queue = new GroupedQueue<string>((caller) => served.get(caller) ?? 0)
  for (const name of ['a', 'b']) queue.add(guest(name), name)
  queue.add(customer('c'), 'c')
  t.same([queue.take(), queue.take(), queue.take()], ['b', 'c', 'a'])
})

t.test('an item can be removed, and all that are left can be taken at once', async (t) => {
  const queue = new GroupedQueue<string>()
  queue.add(guest('a'), 'a1')
  queue.add(customer('b'), 'b1')
  queue.add(customer('c'), 'c1')
  t.equal(queue.remove(guest('a'), 'a1'), true)
  t.equal(queue.remove(guest('a'), 'a1'), false)
  t.same(queue.takeAll(), ['b1', 'c1'])
  t.equal(queue.isEmpty, true)
})
