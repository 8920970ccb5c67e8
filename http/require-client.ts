import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.ts'

/**
 * Call it when a request's turn has come: there is no work for a client that has left in the meantime.
 * @throws Problem `overloaded` if the connection is closed
 */
export function requireClient({ raw: { socket } }: FastifyRequest): void {
  if (socket.destroyed) throw new Problem('overloaded', 'The client left before its turn came.')
}
