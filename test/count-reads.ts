import type { Store, StoreVerb } from '../domain/store.ts'

/** Counts how often a verb of the store reads what it is asked for. */
export function countReads(store: Store, verb: StoreVerb): () => number {
  let reads = 0
  const read = store[verb] as (...given: readonly unknown[]) => Promise<unknown>
  const counted = async (...given: readonly unknown[]) => {
    const found = await read(...given)
    reads += 1
    return found
  }
  Object.assign(store, { [verb]: counted })
  return () => reads
}
