import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { addCheck } from '../http/hooks.ts'
import { isRead } from '../http/methods.ts'
import { OnePieceResponse } from '../http/one-piece-response.ts'
import { PacedBodies } from '../http/paced-bodies.ts'
import { Problem } from '../http/problem.ts'
import { SlowClients } from '../http/slow-clients.ts'
import { SlowReaders } from '../http/slow-readers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Cuts off slow readers until a response fits into the memory for unsent ones.
     * @param network as `request.network`
     * @returns false if the network itself has the most unsent bytes; then refuse the request
     */
    makeRoomToSend(bytes: number, socket: Socket, network: string): boolean
    /** As `SlowClients` finds them. */
    slowClients(): readonly Socket[]
  }
}

/**
 * Limits the memory of responses that clients do not read. If there is no room for a response, the request is refused instead. Sends
 * large responses in parts. And finds the clients that send or read slowly, for those who need what they hold.
 */
export default fp(
  async function sending(app: FastifyInstance, { config }: { config: Config }) {
    const readers = new SlowReaders(() => app.connections.open, config.SEND_TIMEOUT * 1000)
    const clients = new SlowClients(() => app.connections.open)
    app.addHook('onClose', async () => {
      readers.stop()
      clients.stop()
    })
    app.decorate('makeRoomToSend', (bytes: number, socket: Socket, network: string) => readers.makeRoom(bytes, socket, network))
    app.decorate('slowClients', () => clients.sockets)

    const bodies = new PacedBodies()
    addCheck(app, 'onSend', (request, reply, payload: unknown) => {
      const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0
      // A write is already stored, so its response must be sent. A large one is written only where there is room for it.
      const mustSend = !isRead(request.method) || reply.statusCode >= 400
      if (!app.makeRoomToSend(bytes, request.raw.socket, request.network) && !mustSend)
        throw new Problem('overloaded', 'Too many large responses to your network are still unread. Read those first, then try again.')
      if (bodies.takes(payload) && reply.raw instanceof OnePieceResponse) reply.raw.pacing = { bodies, caller: request.network }
    })
  },
  { name: 'sending', fastify: '5.x', dependencies: ['draining', 'problems', 'scheduling'] }
)
