import type { Socket } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { FairScheduler } from '../fairness/fair-scheduler.ts'
import { stopReading } from '../http/connections.ts'
import { Problem } from '../http/problem.ts'

/** Node reads this many bytes from a connection at once. A smaller body arrives in one chunk. */
const chunkSize = 64 * 1024

/** The chunks of a body may have any size up to this many. With more of them, a chunk must have `minAverageSize` bytes on average. */
const freeChunks = 1_000
const minAverageSize = 64

/** A body in chunks of one byte takes a hundred times its size in memory, and one call on the main thread for each byte. */
function tooManyChunks(): Problem {
  const detail = `The body has too many chunks: above ${freeChunks} they must have ${minAverageSize} bytes on average. Nothing was stored.`
  return new Problem('malformed-request', detail, { headers: { connection: 'close' } })
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
    const scheduler = new FairScheduler()
    const { server } = app

    ;(server as unknown as PausableServer).pauseOnConnect = true
    server.on('connection', (socket: Socket) => {
      scheduler.connectionAccepted()
      scheduler.scheduleRead(socket.remoteAddress ?? '', () => socket.resume())
    })

    app.addHook('onRequest', (request, _reply, done) => scheduler.schedule(normalizeIP(request.ip), done))

    app.addHook('preParsing', ({ ip, headers, raw }, _reply, payload, done) => {
      if (Number(headers['content-length'] ?? 0) <= chunkSize && headers['transfer-encoding'] === undefined) return done(null, payload)
      const address = normalizeIP(ip)
      let readUpTo = 0
      let chunks = 0
      let bytes = 0
      const receive = (chunk: Buffer) => {
        chunks++
        bytes += chunk.length
        if (chunks > freeChunks && bytes < chunks * minAverageSize) {
          payload.off('data', receive)
          stopReading(raw.socket)
          // Nobody listens where the request was refused before its body was read: the rest is only discarded.
          if (payload.listenerCount('error') > 0) payload.emit('error', tooManyChunks())
          return
        }
        // One read from the socket can hold many chunks.
        if (raw.socket.bytesRead === readUpTo) return
        readUpTo = raw.socket.bytesRead
        payload.pause()
        scheduler.scheduleRead(address, () => payload.resume())
      }
      // A `data` listener starts the flow. Added earlier, the body parser would miss chunks that come before it listens.
      payload.once('resume', () => payload.on('data', receive))
      done(null, payload)
    })
  },
  { name: 'scheduling', fastify: '5.x' }
)
