import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/** Collects the garbage of this thread. That takes milliseconds, so the serving thread does it only at its start. */
export function collectGarbage(): void {
  collect ??= exposedCollection()
  collect()
}

/** Sets a flag of V8, which from then on refuses the code that the build has recorded without it. So all code must be loaded before. */
function exposedCollection(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

/**
 * Returns a function that collects garbage when the heap has grown enough since the last time. By itself V8 lets the garbage of large
 * values wait until it takes several times the room.
 * @param growth in MiB
 */
export function garbageCollector(growth: number): () => void {
  const step = growth * 1024 * 1024
  let most = step
  return () => {
    if (getHeapStatistics().used_heap_size < most) return
    collectGarbage()
    most = getHeapStatistics().used_heap_size + step
  }
}
