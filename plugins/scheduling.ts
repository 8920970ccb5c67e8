import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { networkOf } from '../fairness/networks.ts'
import { bodyLength, hasBody } from '../http/body.ts'
import { readSize } from '../http/connection-reader.ts'
import { addCheck, addWait } from '../http/hooks.ts'
import { requireClient } from '../http/require-client.ts'
import { destroyIfReset } from '../http/socket-handle.ts'
import { inTurns, type Pieces } from '../representations/pieces.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Calls `start` now, or when it is the address's turn. @param network as `request.network` */
    schedule(network: string, start: () => void): void
    /** Lets each read of a request's body wait for the address's turn. This starts the flow of the body. */
    paceReads(request: FastifyRequest): void
  }
  interface FastifyRequest {
    /** The sender's address, or the /64 network of an IPv6 address. */
    network: string
    /**
     * Waits for the next turn of the address, before work of milliseconds.
     * @throws Problem `overloaded` if the client has gone meanwhile
     */
    nextTurn(): Promise<void>
    /**
     * Does work of milliseconds when it is the address's turn. What it does at once counts as that turn's time.
     * @throws Problem `overloaded` if the client has gone meanwhile
     */
    inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result>
    /**
     * Does work in turns with the requests of others.
     * @throws Problem `overloaded` if the client has gone meanwhile
     */
    inTurns<Result>(pieces: Pieces<Result>): Promise<Result>
  }
}

/** An option of Node's net.Server, which `http.createServer` does not pass on. */
interface PausableServer {
  pauseOnConnect: boolean
}

/**
 * Lets addresses take turns on the main thread: for the first read of a connection, the start of a request, and each chunk of
 * a body. However much one address sends at once, the requests of others do not wait behind it.
 */
export default fp(
  async function scheduling(app: FastifyInstance) {
    const { server, connections } = app
    const scheduler = connections.turns

    ;(server as unknown as PausableServer).pauseOnConnect = true
    connections.listener.onAccept((socket) => {
      scheduler.scheduleRead(networkOf(socket.remoteAddress ?? ''), () => {
        if (destroyIfReset(socket)) return false
        socket.resume()
        return true
      })
    })

    app.decorate('schedule', (network: string, start: () => void) => scheduler.schedule(network, start))
    app.decorateRequest('network', '')
    app.decorateRequest('nextTurn', async function (this: FastifyRequest) {
      await new Promise<void>((resolve) => scheduler.goOn(this.network, resolve))
      requireClient(this)
    })
    app.decorateRequest('inTurn', function <Result>(this: FastifyRequest, work: () => Result | Promise<Result>): Promise<Result> {
      const start = async () => {
        requireClient(this)
        return work()
      }
      return new Promise((resolve) => scheduler.schedule(this.network, () => resolve(start())))
    })
    app.decorateRequest('inTurns', function <Result>(this: FastifyRequest, pieces: Pieces<Result>): Promise<Result> {
      return inTurns(pieces, () => this.nextTurn())
    })
    addWait(app, 'onRequest', (request, _reply, done) => {
      const { raw } = request
      request.network = networkOf(request.ip)
      // The body is not read before the request's turn. Node resumes the socket when somebody reads or discards the body.
      // A request of `app.inject` has no `complete`, and no socket that could pause.
      if (raw.complete === false && hasBody(raw)) raw.socket.pause()
      scheduler.schedule(request.network, done)
    })

    app.decorate('paceReads', ({ network, raw }: FastifyRequest) => {
      let readUpTo = 0
      raw.on('data', () => {
        // One read from the socket can hold many chunks.
        if (raw.socket.bytesRead === readUpTo) return
        readUpTo = raw.socket.bytesRead
        raw.pause()
        scheduler.scheduleRead(network, () => {
          raw.resume()
          return !raw.destroyed
        })
      })
    })

    addCheck(app, 'preParsing', (request) => {
      // A body that fits into one read arrives in one chunk.
      if ((bodyLength(request) ?? Number.POSITIVE_INFINITY) <= readSize) return
      // A `data` listener starts the flow. If it were added earlier, the body parser would miss the chunks that come before it listens.
      request.raw.once('resume', () => app.paceReads(request))
    })
  },
  { name: 'scheduling', fastify: '5.x', dependencies: ['draining'] }
)
