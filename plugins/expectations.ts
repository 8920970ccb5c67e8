import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '../http/problem.ts'

/**
 * Expect (RFC 9110 section 10.1.1): a client that waits for 100 gets it when its body is about to be read; whatever can be
 * refused by the headers alone is refused before the body was sent. Registered after everything that refuses.
 */
export default fp(
  async function expectations(app: FastifyInstance) {
    const waiting = new WeakSet<object>()
    const disappointed = new WeakSet<object>()

    app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      waiting.add(request)
      app.server.emit('request', request, response)
    })
    app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      disappointed.add(request)
      app.server.emit('request', request, response)
    })

    app.addHook('onRequest', async ({ raw }) => {
      if (disappointed.has(raw)) {
        throw new Problem('expectation-failed', 'The only expectation that is met here is 100-continue.', {
          headers: { connection: 'close' }
        })
      }
    })

    app.addHook('preParsing', async ({ raw }, reply, payload) => {
      if (waiting.delete(raw)) reply.raw.writeContinue()
      return payload
    })

    // The client may send the body after all, or the next request: only closing keeps the two apart.
    app.addHook('onSend', async ({ raw }, reply) => {
      if (waiting.has(raw)) reply.header('connection', 'close')
    })
  },
  { name: 'expectations', fastify: '5.x', dependencies: ['problems'] }
)
