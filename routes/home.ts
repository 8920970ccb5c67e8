import fp from 'fastify-plugin'
import { serviceRepresentations } from '../representations/service.ts'
import type { RoutePlugin } from './route.ts'

const describes = { id: 'getService', summary: 'The service, with links to everything', answers: { 200: 'The service.' } } as const

const home: RoutePlugin = async (app, { config }) => {
  const shown = { represents: serviceRepresentations, caching: 'catalogue', describes } as const
  app.get('/', { prefixTrailingSlash: 'slash', config: shown }, async (_request, reply) =>
    reply.represent({ name: config.SHOP_NAME, currency: config.CURRENCY })
  )

  // Under a base path the root has a slash at its end, which people leave out.
  if (app.prefix !== '') {
    app.get('', { config: { caching: 'catalogue' } }, async ({ url }, reply) =>
      reply.header('cache-control', app.cachePolicies.catalogue).redirect(url.replace(app.prefix, `${app.prefix}/`), 308)
    )
  }
}

export default fp(home, { name: 'home', encapsulate: true, dependencies: ['representation'] })
