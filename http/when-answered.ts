import type { FastifyReply, FastifyRequest } from 'fastify'

/** What waits for the end of a connection, by socket: a pipelined request's answer may never be begun. */
const ends = new WeakMap<object, Set<() => void>>()

function endOf(socket: FastifyRequest['raw']['socket']): Set<() => void> {
  const known = ends.get(socket)
  if (known) return known
  const waiting = new Set<() => void>()
  ends.set(socket, waiting)
  socket.once('close', () => {
    for (const end of waiting) end()
  })
  return waiting
}

/**
 * Calls back once, when a request's answer is sent or can no longer be sent. Node tells the end of a connection only to
 * the answer that is being sent, and to none of those of pipelined requests behind it.
 */
export function whenAnswered({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, done: () => void): void {
  const waiting = endOf(socket)
  const end = () => {
    if (waiting.delete(end)) done()
  }
  waiting.add(end)
  raw.once('close', end)
  // Its close was told before this was asked for.
  if (socket.destroyed) end()
}
