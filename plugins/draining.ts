import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/**
 * While the service stops, the listener is still open and each answer is the last of its connection (RFC 9112 section 9.6):
 * when the listener closes, hardly any connection is left that a client could just be sending a request on.
 */
export default fp(
  async function draining(app: FastifyInstance, { isStopping }: { readonly isStopping: () => boolean }) {
    app.addHook('onRequest', async (_request, reply) => {
      // On the raw response, as Fastify itself does later: no answer takes it back.
      if (isStopping()) reply.raw.setHeader('connection', 'close')
    })
  },
  { name: 'draining', fastify: '5.x' }
)
