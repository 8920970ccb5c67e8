import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { describeApi } from '../openapi/document.ts'
import { type DescribedRoute, describedRoutes } from '../openapi/rules.ts'
import type { ApiDescription } from '../representations/api-description.ts'
import { inTurns } from '../representations/pieces.ts'
import '../openapi/description.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI description of all routes. */
    apiDescription(): Promise<ApiDescription>
  }
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
    let description: Promise<ApiDescription> | undefined
    app.decorate('apiDescription', () => {
      description ??= inTurns(describeApi(routes, config, release), turnOfTheLoop)
      return description
    })
  },
  { name: 'openapi', fastify: '5.x' }
)
