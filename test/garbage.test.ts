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
  waste(40)
  collect()
  t.ok(used() < least + 8, `${used()} MiB, from ${least}`)
})
