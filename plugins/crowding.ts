import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Connections that are taken over the bound, each for as long as it takes to close another. */
const spare = 16

/** The one that has most. */
function most(counts: ReadonlyMap<string, number>): string | undefined {
  let found: string | undefined
  for (const [address, count] of counts) if (found === undefined || count > (counts.get(found) ?? 0)) found = address
  return found
}

/**
 * No address takes all the room for connections from the others: where there is none left, the address that has most
 * gives one up on which no answer is owed, or is not let in itself. Clients of one proxy are one address: none of them
 * gives way to another.
 */
export default fp(
  async function crowding(app: FastifyInstance) {
    const { server, connections } = app
    const bound = server.maxConnections
    const counts = new Map<string, number>()
    let open = 0

    function count(address: string, change: 1 | -1): void {
      const now = (counts.get(address) ?? 0) + change
      if (now > 0) counts.set(address, now)
      else counts.delete(address)
      open += change
    }

    /** One to close for a newcomer. */
    function giveWay(newcomer: Socket): Socket {
      const crowd = most(counts)
      if (crowd === newcomer.remoteAddress) return newcomer
      for (const { socket, pendingResponses } of connections.open) {
        if (socket.remoteAddress === crowd && pendingResponses.size === 0 && !socket.destroyed) return socket
      }
      return newcomer
    }

    server.maxConnections = bound + spare
    server.on('connection', (socket: Socket) => {
      const { remoteAddress: address } = socket
      // It was reset already.
      if (address === undefined) return
      count(address, 1)
      socket.once('close', () => count(address, -1))
      if (open > bound) giveWay(socket).destroy()
    })
  },
  { name: 'crowding', fastify: '5.x', dependencies: ['draining', 'limits'] }
)
