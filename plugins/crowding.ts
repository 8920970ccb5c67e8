import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { AddressCounts } from '../fairness/address-counts.ts'
import { isAnswering } from '../http/connection.ts'

/** Connections that are accepted above the limit, until another one is closed for each. */
const spareConnections = 16

/**
 * Prevents one address from using all connections. At the limit, a new connection closes another one: one of the address with the
 * most connections, without pending responses other than a delayed refusal. If there is none, or the new one is from that address
 * itself, the new one is closed. Clients behind one proxy have one address, so they never close each other's connections.
 */
export default fp(
  async function crowding(app: FastifyInstance) {
    const { server, connections } = app
    const limit = server.maxConnections
    const counts = new AddressCounts()

    /** Returns a connection to close so that a new one from that address fits, or undefined if the new one must not be accepted. */
    function connectionToClose(newcomer: string): Socket | undefined {
      const { busiest } = counts
      if (busiest === newcomer) return undefined
      for (const connection of connections.open) {
        const { socket, isRefusalDelayed } = connection
        if (socket.remoteAddress === busiest && (isRefusalDelayed || !isAnswering(connection)) && !socket.destroyed) return socket
      }
      return undefined
    }

    server.maxConnections = limit + spareConnections
    connections.listener.admitIf((socket) => {
      const { remoteAddress: address = '' } = socket
      counts.add(address)
      socket.once('close', () => counts.remove(address))
      if (counts.total <= limit) return true
      const other = connectionToClose(address)
      other?.destroy()
      return other !== undefined
    })
  },
  { name: 'crowding', fastify: '5.x', dependencies: ['draining', 'limits'] }
)
