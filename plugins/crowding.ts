import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Amounts } from '../fairness/amounts.ts'
import { type Connection, isAnswering } from '../http/connection.ts'
import { safeMethods } from '../http/methods.ts'

/** The most connections that are compared for a newcomer. To compare thousands takes up to 5 ms. */
const mostCompared = 100

/** How much is lost if a connection is closed. Undefined if it must not be closed. */
function lossOf(connection: Connection): number | undefined {
  const { socket, isRefusalDelayed, lastRequest, pendingResponses } = connection
  if (isRefusalDelayed || !isAnswering(connection)) return 0
  for (const { req, headersSent } of pendingResponses) {
    if (req.complete && !headersSent && !safeMethods.includes(req.method)) return undefined
  }
  // 1: the service waits for a client that sends or reads slowly.
  return lastRequest?.complete === false || socket.writableLength > 0 ? 1 : 2
}

/**
 * Prevents one network from using all connections. When all are taken, a new connection closes one of the network that has the most:
 * among its oldest, the one that loses least. A connection is never closed while the service carries out a write that has arrived
 * whole. If there is none to close, or the newcomer is of that network itself, the newcomer is closed. All clients behind one proxy
 * have its address, so they never close each other's connections.
 */
export default fp(
  async function crowding(app: FastifyInstance) {
    const { server, connections } = app
    const limit = server.maxConnections
    /** The connections of each network. */
    const counts = new Amounts()

    /** Returns a connection of the network that can be closed, if there is one. */
    function connectionToClose(busiest: string): Socket | undefined {
      let best: { readonly socket: Socket; readonly loss: number } | undefined
      let compared = 0
      for (const connection of connections.open) {
        const { socket, network } = connection
        if (network !== busiest || socket.destroyed) continue
        const loss = lossOf(connection)
        if (loss === undefined) continue
        if (best === undefined || loss < best.loss) best = { socket, loss }
        compared += 1
        if (loss === 0 || compared === mostCompared) break
      }
      return best?.socket
    }

    /** Closes a client of the network with the most. @returns whether it has, so that one from the newcomer's network fits */
    function makeRoom(newcomer: string): boolean {
      const busiest = counts.largest
      if (busiest === undefined || busiest === newcomer) return false
      if (connections.waiting.closeFirst(busiest)) return true
      const other = connectionToClose(busiest)
      other?.destroy()
      return other !== undefined
    }

    connections.listener.rules.takePlace = (network) => {
      if (counts.total >= limit && !makeRoom(network)) return undefined
      counts.add(network, 1)
      return () => counts.add(network, -1)
    }
  },
  { name: 'crowding', fastify: '5.x', dependencies: ['draining', 'limits'] }
)
