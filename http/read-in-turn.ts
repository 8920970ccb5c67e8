/**
 * Reads a value once in a turn of the event loop, for requests that arrive in one piece, each with the first read of its
 * connection in that turn.
 *
 * The first byte of each of them was there when the system reported it, which is before any of them is read. So the value is
 * read between the moment when the client began to send and the response, as if it were read for each request alone.
 *
 * This holds while fewer than 1,024 connections can be reported at once. Otherwise libuv asks the system again in the same turn.
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
