/** Regroups items that come in parts of any size. Every batch has `size` items, except for the last one. */
export async function* inBatches<T>(
  parts: AsyncIterable<Iterable<T>> | Iterable<Iterable<T>>,
  size: number
): AsyncGenerator<readonly T[], void, undefined> {
  let batch: T[] = []
  for await (const part of parts) {
    for (const item of part) {
      batch.push(item)
      if (batch.length < size) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
