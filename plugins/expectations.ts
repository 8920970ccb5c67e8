import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { addCheck } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'

/**
 * Expect: 100-continue (RFC 9110 section 10.1.1). The client gets the 100 only when its body is about to be read, so a request
 * that its headers make invalid is refused before the body is sent. Register this after all plugins that refuse requests.
 */
export default fp(
  async function expectations(app: FastifyInstance) {
    const awaiting100 = new WeakSet<object>()
    const unsupported = new WeakSet<object>()

    app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      awaiting100.add(request)
      app.server.emit('request', request, response)
    })
    app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      unsupported.add(request)
      app.server.emit('request', request, response)
    })

    addCheck(app, 'onRequest', ({ raw }) => {
      if (unsupported.has(raw)) {
        throw new Problem(
          'expectation-failed',
          'The only supported expectation is 100-continue. Send the request without the Expect header.',
          {
            headers: { connection: 'close' }
          }
        )
      }
    })

    addCheck(app, 'preParsing', ({ raw }, reply) => {
      if (awaiting100.delete(raw)) reply.raw.writeContinue()
    })

    // The client may now send either the body or its next request. Only closing the connection avoids the ambiguity.
    addCheck(app, 'onSend', ({ raw }, reply) => {
      if (awaiting100.has(raw)) reply.header('connection', 'close')
    })
  },
  { name: 'expectations', fastify: '5.x', dependencies: ['problems'] }
)
