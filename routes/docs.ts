import fp from 'fastify-plugin'
import { keyPrefix } from '../http/masked-names.ts'
import { Problem } from '../http/problem.ts'
import { problemTypes } from '../http/problem-types.ts'
import { docsGroupRepresentations, docsRepresentations } from '../representations/api-documentation.ts'
import { groupSegment } from '../representations/docs-groups.ts'
import { pathParameters } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

const groupPath = pathParameters({ group: { description: 'The name of a tag in lower case.', examples: ['orders'] } })

const describes = { id: 'getDocumentation', summary: 'This description, for people', answers: { 200: 'A page.' } } as const

const describesGroup = {
  id: 'getDocumentationGroup',
  summary: 'The operations of one tag and their documents, for people',
  answers: { 200: 'A page.' }
} as const

const docs: RoutePlugin = async (app) => {
  app.get('/docs', { config: { represents: docsRepresentations, caching: 'catalogue', describes } }, async (_request, reply) =>
    reply.represent({ description: await app.apiDescription(), problems: problemTypes, keyPrefix })
  )

  app.get(
    '/docs/:group',
    { schema: { params: groupPath }, config: { represents: docsGroupRepresentations, caching: 'catalogue', describes: describesGroup } },
    async (request, reply) => {
      const description = await app.apiDescription()
      const tags = description.tags.map(({ name }) => name)
      const tag = tags.find((name) => groupSegment(name) === request.params.group)
      if (tag === undefined) throw new Problem('not-found', `There is no such page. The pages are ${tags.map(groupSegment).join(', ')}.`)
      return reply.represent({ description, tag })
    }
  )
}

export default fp(docs, { name: 'docs', encapsulate: true, dependencies: ['representation', 'openapi'] })
