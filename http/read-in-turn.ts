/**
 * Reads a value once for all requests of a turn of the event loop. Use it only for requests that arrive in one piece, with the first
 * read of their connection in the turn, and that are handled as soon as they are read.
 *
 * The system reports all connections of a turn before the first of them is read. So every one of these requests had begun to arrive
 * before the value is read, and the value is as current as if it were read for each request alone.
 *
 * This holds while fewer than 1,024 connections can be reported at once. Otherwise libuv asks the system again in the same turn.
 *
 * A request that has waited must read for itself. It is handled after all connections of its turn. Its value would be shared with the next
 * turn, whose requests may be sent after it was read.
 */
export function readInTurn<T>(read: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => {
    if (known) return known.value
    setImmediate(() => (known = undefined))
    known = { value: read() }
    return known.value
  }
}
