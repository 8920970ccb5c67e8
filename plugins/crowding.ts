import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { AddressCounts } from '../fairness/address-counts.ts'
import { isAnswering } from '../http/connection.ts'

/** Connections that are accepted above the limit, until another one is closed for each. */
const spareConnections = 16

/**
 * Prevents one address from using all connections. At the limit, a new connection closes one without pending responses of
 * the address that has the most. If there is none, or the new one is from that address itself, the new one is closed.
 * Clients behind one proxy have one address, so they never close each other's connections.
 */
export default fp(
  async function crowding(app: FastifyInstance) {
    const { server, connections } = app
    const limit = server.maxConnections
    const counts = new AddressCounts()

    /** The connection to close so that a new one fits: another, or the new one itself. */
    function connectionToClose(newcomer: Socket): Socket {
      const { busiest } = counts
      if (busiest === newcomer.remoteAddress) return newcomer
      for (const connection of connections.open) {
        const { socket } = connection
        if (socket.remoteAddress === busiest && !isAnswering(connection) && !socket.destroyed) return socket
      }
      return newcomer
    }

    server.maxConnections = limit + spareConnections
    server.on('connection', (socket: Socket) => {
      const { remoteAddress: address } = socket
      // The client has already reset the connection.
      if (address === undefined) return
      counts.add(address)
      socket.once('close', () => counts.remove(address))
      if (counts.total > limit) connectionToClose(socket).destroy()
    })
  },
  { name: 'crowding', fastify: '5.x', dependencies: ['draining', 'limits'] }
)
