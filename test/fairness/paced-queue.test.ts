import t from 'tap'
import { PacedQueue } from '../../fairness/paced-queue.ts'

t.test('work that is removed from the queue delays nothing behind it', async (t) => {
  const queue = new PacedQueue({ before: 1, between: 20 }, () => false)
  const started: string[] = []
  const start = (caller: string, name: string) => new Promise<void>((resolve) => queue.add(caller, () => resolve(void started.push(name))))
  const places = Array.from({ length: 1_000 }, () => queue.add('crowd', () => started.push('gone')))
  for (const giveUp of places) giveUp()
  const behind = start('crowd', 'behind')
  // Another caller's turns measure the time: a thousand turns of the crowd would take twenty times as long.
  const others = Array.from({ length: 50 }, (_, i) => start('other', `other ${i}`))
  await behind
  t.ok(started.length <= 50, `${started.length} had started`)
  t.notOk(started.includes('gone'))
  await Promise.all(others)
})

t.test('all that waits starts at once when it is hurried', async (t) => {
  let isHurried = false
  const queue = new PacedQueue({ before: 1, between: 60_000 }, () => isHurried)
  const started: number[] = []
  const all = [0, 1, 2].map((i) => new Promise<void>((resolve) => queue.add('a', () => resolve(void started.push(i)))))
  isHurried = true
  await Promise.all(all)
  t.same(started, [0, 1, 2])
})
