import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Connections that are accepted above the limit, until another one is closed for each. */
const spareConnections = 16

/** The address with the most connections. */
function busiestAddress(counts: ReadonlyMap<string, number>): string | undefined {
  let found: string | undefined
  for (const [address, count] of counts) if (found === undefined || count > (counts.get(found) ?? 0)) found = address
  return found
}

/**
 * Prevents one address from using all connections. At the limit, a new connection closes one without pending responses of
 * the address that has the most. If there is none, or the new one is from that address itself, the new one is closed.
 * Clients behind one proxy have one address, so they never close each other's connections.
 */
export default fp(
  async function crowding(app: FastifyInstance) {
    const { server, connections } = app
    const limit = server.maxConnections
    const counts = new Map<string, number>()
    let open = 0

    function count(address: string, change: 1 | -1): void {
      const now = (counts.get(address) ?? 0) + change
      if (now > 0) counts.set(address, now)
      else counts.delete(address)
      open += change
    }

    /** The connection to close so that a new one fits: another, or the new one itself. */
    function connectionToClose(newcomer: Socket): Socket {
      const busiest = busiestAddress(counts)
      if (busiest === newcomer.remoteAddress) return newcomer
      for (const { socket, pendingResponses } of connections.open) {
        if (socket.remoteAddress === busiest && pendingResponses.size === 0 && !socket.destroyed) return socket
      }
      return newcomer
    }

    server.maxConnections = limit + spareConnections
    server.on('connection', (socket: Socket) => {
      const { remoteAddress: address } = socket
      // The client has already reset the connection.
      if (address === undefined) return
      count(address, 1)
      socket.once('close', () => count(address, -1))
      if (open > limit) connectionToClose(socket).destroy()
    })
  },
  { name: 'crowding', fastify: '5.x', dependencies: ['draining', 'limits'] }
)
