import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import '../logging/requests.ts'

/** Every answer tells the request's id, which finds it in the log. Registered first, so that refusals tell it too. */
export default fp(
  async function logging(app: FastifyInstance) {
    app.decorateRequest('refusal', undefined)
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-request-id', request.id)
    })
  },
  { name: 'logging', fastify: '5.x' }
)
