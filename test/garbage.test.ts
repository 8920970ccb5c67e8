import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { garbageCollector } from '../garbage.ts'

const used = () => getHeapStatistics().used_heap_size / 1024 / 1024

/** Fills the heap with so many MiB, which nothing refers to any more when it returns. */
function waste(megabytes: number): number {
  return Array.from({ length: megabytes }, (_, i) => Array.from({ length: 131_072 }, (_, j) => i + j + 0.5)).length
}

t.test('garbage is collected when the heap has grown so much since the last time, and not before', async (t) => {
  const collect = garbageCollector(8)
  collect()
  const least = used()
  const young = new WeakRef([1])
  // What a WeakRef refers to is kept until the job that made it ends.
  await new Promise(setImmediate)
  collect()
  t.ok(young.deref(), 'the heap has hardly grown')
  waste(40)
  collect()
  t.ok(used() < least + 8, `${used()} MiB, from ${least}`)
})
