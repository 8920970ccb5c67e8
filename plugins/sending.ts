import type { Socket } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { addCheck } from '../http/hooks.ts'
import { isRead } from '../http/methods.ts'
import { maxWholeBody, PacedBody } from '../http/paced-body.ts'
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
    /**
     * Waits until each other large response has had a turn of the event loop, and then for the network's own turn. A client that reads fast
     * would otherwise get all of its response in one turn, and others would wait.
     */
    turnToSend(network: string): Promise<void>
    /** As `SlowClients` finds them. */
    slowClients(): readonly Socket[]
  }
}

/**
 * Limits the memory of responses that clients do not read. If there is no room for a response, the request is refused instead. Sends large
 * responses in parts. And finds the clients that send or read slowly, for those who need what they hold.
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

    let lastTurn: Promise<void> = Promise.resolve()
    async function turnToSend(network: string): Promise<void> {
      lastTurn = lastTurn.then(() => turnOfTheLoop())
      await lastTurn
      await new Promise<void>((resolve) => app.schedule(network, resolve))
    }
    app.decorate('turnToSend', turnToSend)

    addCheck(app, 'onSend', (request, reply, payload: unknown) => {
      const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0
      // A write is already stored, so its response must be sent. A large one is written only where there is room for it.
      const mustSend = !isRead(request.method) || reply.statusCode >= 400
      if (!app.makeRoomToSend(bytes, request.raw.socket, request.network) && !mustSend)
        throw new Problem('overloaded', 'Too many large responses to your network are still unread. Read those first, then try again.')
    })
    app.addHook('onSend', ({ method, network, raw }, reply, payload: unknown, done) => {
      if (!Buffer.isBuffer(payload) || payload.length <= maxWholeBody || method === 'HEAD') return done()
      reply.header('content-length', payload.length)
      const body = new PacedBody(payload, () => turnToSend(network))
      readers.watch(raw.socket, body)
      done(null, body)
    })
  },
  { name: 'sending', fastify: '5.x', dependencies: ['draining', 'problems', 'scheduling'] }
)
