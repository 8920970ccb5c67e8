import { hash } from 'node:crypto'
import fp from 'fastify-plugin'
import { Problem } from '../http/problem.ts'
import { publishedXsds } from '../representations/published-xsds.ts'
import type { Xsd } from '../schemas/vocabulary.ts'
import { pathParameters } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

interface Published {
  readonly source: Buffer
  /** Its entity tag. */
  readonly tag: string
}

function publish({ source }: Xsd): Published {
  return { source, tag: `"${hash('sha256', source).slice(0, 16)}"` }
}

/** Each schema by the name of each root element that it declares, so that a reader finds it by the root of a document. */
const published = new Map(
  publishedXsds.flatMap((xsd) => {
    const file = publish(xsd)
    return [...xsd.vocabulary.keys()].map((root): [string, Published] => [`${root}.xsd`, file])
  })
)

const schemaPath = pathParameters({ file: { description: `One of ${[...published.keys()].join(', ')}.` } })

const describes = {
  id: 'getSchema',
  summary: 'An XML Schema, as it is used',
  answers: { 200: 'The schema.' },
  sends: ['application/xml']
} as const

const schemas: RoutePlugin = async (app) => {
  app.get('/schemas/:file', { schema: { params: schemaPath }, config: { caching: 'catalogue', describes } }, async (request, reply) => {
    const file = published.get(request.params.file)
    if (!file) throw new Problem('not-found', `There is no such schema. The schemas are ${[...published.keys()].join(', ')}.`)
    if (reply.revalidateTag(file.tag, app.cachePolicies.catalogue)) return reply
    return reply.type('application/xml; charset=utf-8').send(file.source)
  })
}

export default fp(schemas, { name: 'schemas', encapsulate: true, dependencies: ['caching', 'preconditions'] })
