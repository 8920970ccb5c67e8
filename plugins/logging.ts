import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { addCheck } from '../http/hooks.ts'
import { requestId } from '../logging/request-ids.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** An id for a request that is refused before the application sees it. */
    newRequestId(): string
  }
}

/** Sends the request's id with every response, to find it in the log. Register this first, so that refusals have it too. */
export default fp(
  async function logging(app: FastifyInstance) {
    app.decorate('newRequestId', () => requestId(undefined))
    app.decorateRequest('refusal', undefined)
    app.decorateRequest('isAnswered', false)
    addCheck(app, 'onRequest', (request, reply) => {
      reply.header('x-request-id', request.id)
    })
    app.addHook('onResponse', (request, _reply, done) => {
      request.isAnswered = true
      done()
    })
  },
  { name: 'logging', fastify: '5.x' }
)
