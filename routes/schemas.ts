import { createHash } from 'node:crypto'
import fp from 'fastify-plugin'
import { Problem } from '../http/problem.ts'
import type { QuerySchema } from '../http/query-schema.ts'
import { publishedXsds } from '../representations/published-xsds.ts'
import type { RoutePlugin } from './route.ts'

/** Each schema by the name of each root element that it declares, so that a reader finds it by the root of a document. */
const published = new Map(publishedXsds.flatMap((xsd) => [...xsd.vocabulary.keys()].map((root) => [`${root}.xsd` as string, xsd] as const)))

const schemaPath: QuerySchema<{ readonly file: string }> = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', description: `One of ${[...published.keys()].join(', ')}.` } }
}

const describes = {
  id: 'getSchema',
  summary: 'An XML Schema, as it is used',
  answers: { 200: 'The schema.' },
  sends: ['application/xml']
} as const

const schemas: RoutePlugin = async (app) => {
  app.get('/schemas/:file', { schema: { params: schemaPath }, config: { caching: 'catalogue', describes } }, async (request, reply) => {
    const xsd = published.get(request.params.file)
    if (!xsd) throw new Problem('not-found', `There is no such schema. The schemas are ${[...published.keys()].join(', ')}.`)
    const tag = `"${createHash('sha256').update(xsd.source).digest('hex').slice(0, 16)}"`
    reply.headers({ etag: tag, 'cache-control': app.cachePolicies.catalogue })
    if (request.isNotModified({ tags: [tag] })) return reply.code(304).send()
    return reply.type('application/xml; charset=utf-8').send(xsd.source)
  })
}

export default fp(schemas, { name: 'schemas', encapsulate: true, dependencies: ['caching', 'preconditions'] })
