import type { Socket } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { FairScheduler } from '../fairness/fair-scheduler.ts'

/** Bytes that Node reads from a connection at once: a body of no more arrives in one part. */
const part = 64 * 1024

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
      scheduler.connectionAccepted()
      scheduler.scheduleRead(socket.remoteAddress ?? '', () => socket.resume())
    })

    app.addHook('onRequest', (request, _reply, done) => scheduler.schedule(normalizeIP(request.ip), done))

    app.addHook('preParsing', ({ ip, headers }, _reply, payload, done) => {
      if (Number(headers['content-length'] ?? 0) <= part && headers['transfer-encoding'] === undefined) return done(null, payload)
      const address = normalizeIP(ip)
      // Not earlier: a listener starts the body flowing, and who reads it would miss what comes before it listens.
      payload.once('resume', () => {
        payload.on('data', () => {
          payload.pause()
          scheduler.scheduleRead(address, () => payload.resume())
        })
      })
      done(null, payload)
    })
  },
  { name: 'scheduling', fastify: '5.x' }
)
