import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { addCheck } from '../http/hooks.ts'
import { commonHeaders, pageHeaders } from '../http/security-headers.ts'

/**
 * Security headers. Some are sent with every response, those for documents in a browser window only with pages. The reverse
 * proxy enforces HTTPS, because only it knows whether HTTPS is in use.
 */
export default fp(
  async function securityHeaders(app: FastifyInstance) {
    addCheck(app, 'onRequest', (request, reply) => {
      reply.headers(commonHeaders)
      if (request.routeOptions.config.caching === 'private') reply.header('x-robots-tag', 'noindex, nofollow')
    })
    addCheck(app, 'onSend', (_request, reply) => {
      if (String(reply.getHeader('content-type') ?? '').startsWith('text/html')) reply.headers(pageHeaders)
    })
  },
  { name: 'security-headers', fastify: '5.x' }
)
