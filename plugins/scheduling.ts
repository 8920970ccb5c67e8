import type { Socket } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { FairScheduler } from '../fairness/fair-scheduler.ts'
import { stopReading } from '../http/connections.ts'
import { Problem } from '../http/problem.ts'

/** Bytes that Node reads from a connection at once: a body of no more arrives in one part. */
const part = 64 * 1024

/** Chunks of a body that may be of any size; together with more of them, the bytes that a chunk must have on average. */
const freeParts = 1_000
const leastPart = 64

/** A body in chunks of a byte takes a hundred times its size in memory, and a call of the thread for each. */
function tooManyParts(): Problem {
  const detail = `The body comes in too many chunks: from ${freeParts} on they must have ${leastPart} bytes on average. Nothing was stored.`
  return new Problem('malformed-request', detail, { headers: { connection: 'close' } })
}

/** Node's own option, which `http.createServer` does not hand on. */
interface Pausing {
  pauseOnConnect: boolean
}

/**
 * Addresses take turns with the thread that serves: with every connection that is first read, every request that begins, and
 * every part of a body that arrives. However many of them one address sends at once, another's do not wait behind them.
 */
export default fp(
  async function scheduling(app: FastifyInstance) {
    const scheduler = new FairScheduler()
    const { server } = app

    ;(server as unknown as Pausing).pauseOnConnect = true
    server.on('connection', (socket: Socket) => {
      scheduler.accepted()
      scheduler.scheduleRead(socket.remoteAddress ?? '', () => socket.resume())
    })

    app.addHook('onRequest', (request, _reply, done) => scheduler.schedule(normalizeIP(request.ip), done))

    app.addHook('preParsing', ({ ip, headers, raw }, _reply, payload, done) => {
      if (Number(headers['content-length'] ?? 0) <= part && headers['transfer-encoding'] === undefined) return done(null, payload)
      const address = normalizeIP(ip)
      let readUpTo = 0
      let parts = 0
      let bytes = 0
      const receive = (chunk: Buffer) => {
        parts++
        bytes += chunk.length
        if (parts > freeParts && bytes < parts * leastPart) {
          payload.off('data', receive)
          stopReading(raw.socket)
          payload.emit('error', tooManyParts())
          return
        }
        // Of one read from the socket there can be many parts.
        if (raw.socket.bytesRead === readUpTo) return
        readUpTo = raw.socket.bytesRead
        payload.pause()
        scheduler.scheduleRead(address, () => payload.resume())
      }
      // Not earlier: a listener starts the body flowing, and who reads it would miss what comes before it listens.
      payload.once('resume', () => payload.on('data', receive))
      done(null, payload)
    })
  },
  { name: 'scheduling', fastify: '5.x' }
)
