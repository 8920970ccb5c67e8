import type { FastifyReply, FastifyRequest } from 'fastify'

/** Callbacks by socket. They run when it closes, because a pipelined request may never get its response. */
const callbacks = new WeakMap<object, Set<() => void>>()

function callbacksOf(socket: FastifyRequest['raw']['socket']): Set<() => void> {
  const known = callbacks.get(socket)
  if (known) return known
  const waiting = new Set<() => void>()
  callbacks.set(socket, waiting)
  socket.once('close', () => {
    for (const end of waiting) end()
  })
  return waiting
}

/**
 * Calls `done` once, when a request's response is sent or can no longer be sent. When a connection closes, Node emits
 * `close` only on the current response, not on those of the pipelined requests after it.
 */
export function whenAnswered({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, done: () => void): void {
  const waiting = callbacksOf(socket)
  const end = () => {
    if (waiting.delete(end)) done()
  }
  waiting.add(end)
  raw.once('close', end)
  // The socket may have closed before this call.
  if (socket.destroyed) end()
}
