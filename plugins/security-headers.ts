import helmet from '@fastify/helmet'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { addCheck } from '../http/hooks.ts'
import { pageHeaders } from '../http/page-headers.ts'

/** @fastify/helmet's options for the headers of every response. */
const helmetOptions = {
  xContentTypeOptions: true,
  // Whoever knows an order's URI can use the order, so the URI must not leak as a referrer.
  referrerPolicy: { policy: 'no-referrer' },
  crossOriginResourcePolicy: { policy: 'same-origin' },
  contentSecurityPolicy: false,
  crossOriginEmbedderPolicy: false,
  crossOriginOpenerPolicy: false,
  strictTransportSecurity: false,
  // These headers are for obsolete browsers. frame-ancestors replaces X-Frame-Options.
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false
} as const

/**
 * The headers that helmet sets with these options, by their names in lower case. They are the same for every response. So
 * helmet runs once, on an app of its own: for each request it would make its middleware again, and set each header on the
 * raw response, which Node then writes more slowly.
 */
async function helmetHeaders(): Promise<Readonly<Record<string, string>>> {
  const app = Fastify()
  await app.register(helmet, helmetOptions)
  let headers = {}
  app.get('/', async (_request, reply) => {
    headers = { ...reply.raw.getHeaders() }
    return ''
  })
  await app.inject('/')
  await app.close()
  return headers
}

/** Made once for all services of the process. */
let constantHeaders: ReturnType<typeof helmetHeaders> | undefined

/**
 * Security headers. Some are sent with every response, those for documents in a browser window only with pages. The reverse
 * proxy enforces HTTPS, because only it knows whether HTTPS is in use.
 */
export default fp(
  async function securityHeaders(app: FastifyInstance) {
    constantHeaders ??= helmetHeaders()
    const everywhere = await constantHeaders
    addCheck(app, 'onRequest', (request, reply) => {
      reply.headers(everywhere)
      if (request.routeOptions.config.caching === 'private') reply.header('x-robots-tag', 'noindex, nofollow')
    })
    addCheck(app, 'onSend', (_request, reply) => {
      if (String(reply.getHeader('content-type') ?? '').startsWith('text/html')) reply.headers(pageHeaders)
    })
  },
  { name: 'security-headers', fastify: '5.x' }
)
