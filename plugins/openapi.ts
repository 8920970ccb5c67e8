import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { describeApi } from '../openapi/document.ts'
import type { DescribedRoute } from '../openapi/rules.ts'
import type { ApiDescription } from '../representations/api-description.ts'
import '../openapi/description.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI description of all routes. */
    apiDescription(): ApiDescription
  }
}

function describedRoutes({ url, method, schema = {}, config }: RouteOptions, base: string): readonly DescribedRoute[] {
  const describes = config?.describes
  // Under a base path, the root has two routes, with and without slash. It is described once.
  if (!describes || url === base) return []
  const path = describes.outside ? url : url.slice(base.length)
  const { body, querystring, params } = schema
  return [method]
    .flat()
    .filter((one) => one !== 'HEAD')
    .map((one) => ({ method: one, path, schema: { body, querystring, params }, config, describes }))
}

/**
 * Generates the OpenAPI description from the routes. @fastify/swagger would not help: bodies are XSDs with several notations,
 * and the responses follow from `represents`, `access` and `caching`, which it does not know.
 */
export default fp(
  async function openapi(app: FastifyInstance, { config, release }: { config: Config; release: string }) {
    const base = config.BASE_URL.path
    const routes: DescribedRoute[] = []
    app.addHook('onRoute', (route) => {
      routes.push(...describedRoutes(route, base))
    })
    let description: ApiDescription | undefined
    app.decorate('apiDescription', () => {
      description ??= describeApi(routes, config, release)
      return description
    })
  },
  { name: 'openapi', fastify: '5.x' }
)
