import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// A flag on the command line would make V8 refuse the code that the build has recorded, and threads have no flags of their own.
setFlagsFromString('--expose-gc')

/** Collects the garbage of this thread. That takes milliseconds, so the serving thread must not do it. */
export const collectGarbage: () => void = runInNewContext('gc')

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
