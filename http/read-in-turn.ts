/** Milliseconds. Node looks for arrived bytes again within a turn of the event loop if it finds 1,024 connections at once, which take longer. */
const maxAge = 0.5

/**
 * Reads a value once for all requests that had begun to arrive when it was read, which is while they are taken from their
 * connections: all of them were sent before the turn of the event loop began. So each has a value from between its begin and
 * its response, as if it were read for this request alone.
 */
export function readInTurn<T>(read: () => T): () => T {
  let known: { readonly value: T; readonly readAt: number } | undefined
  return () => {
    const now = performance.now()
    if (known && now - known.readAt < maxAge) return known.value
    if (!known) setImmediate(() => (known = undefined))
    known = { value: read(), readAt: now }
    return known.value
  }
}
