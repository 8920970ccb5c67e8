import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** A page loads from here only, runs no inline script or style, and is framed by nobody. Helmet would write it anew for each. */
const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' https: data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin'
}

/**
 * Security headers: what matters for any body on everything, what matters for a document in a window on pages. HTTPS is
 * the reverse proxy's to enforce: it knows whether there is any.
 */
export default fp(
  async function securityHeaders(app: FastifyInstance) {
    await app.register(helmet, {
      xContentTypeOptions: true,
      // An order's URI is a capability: it goes to nobody as a referrer.
      referrerPolicy: { policy: 'no-referrer' },
      crossOriginResourcePolicy: { policy: 'same-origin' },
      contentSecurityPolicy: false,
      crossOriginEmbedderPolicy: false,
      crossOriginOpenerPolicy: false,
      strictTransportSecurity: false,
      // Answers to the faults of browsers that are gone; frame-ancestors does what X-Frame-Options did.
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xFrameOptions: false,
      xPermittedCrossDomainPolicies: false,
      xPoweredBy: false,
      xXssProtection: false
    })
    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.caching === 'private') reply.header('x-robots-tag', 'noindex, nofollow')
    })
    app.addHook('onSend', async (_request, reply) => {
      if (String(reply.getHeader('content-type') ?? '').startsWith('text/html')) reply.headers(pageHeaders)
    })
  },
  { name: 'security-headers', fastify: '5.x' }
)
