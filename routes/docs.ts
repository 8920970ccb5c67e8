import fp from 'fastify-plugin'
import { problemTypes } from '../http/problem-types.ts'
import { docsRepresentations } from '../representations/api-description.ts'
import type { RoutePlugin } from './route.ts'

const describes = { id: 'getDocumentation', summary: 'This description, for people', answers: { 200: 'A page.' } } as const

const docs: RoutePlugin = async (app) => {
  app.get('/docs', { config: { represents: docsRepresentations, caching: 'catalogue', describes } }, async (_request, reply) =>
    reply.represent({ description: app.apiDescription(), problems: problemTypes })
  )
}

export default fp(docs, { name: 'docs', encapsulate: true, dependencies: ['representation', 'openapi'] })
