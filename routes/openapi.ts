import fp from 'fastify-plugin'
import { openApiRepresentations } from '../representations/api-documentation.ts'
import type { RoutePlugin } from './route.ts'

const describes = {
  id: 'getApiDescription',
  summary: 'This description, for machines',
  answers: { 200: 'An OpenAPI 3.1 document.' }
} as const

const openapi: RoutePlugin = async (app) => {
  app.get('/openapi.json', { config: { represents: openApiRepresentations, caching: 'catalogue', describes } }, async (_request, reply) =>
    reply.represent(await app.apiDescription())
  )
}

export default fp(openapi, { name: 'openapi-document', encapsulate: true, dependencies: ['representation', 'openapi'] })
