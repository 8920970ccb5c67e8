import fp from 'fastify-plugin'
import { Problem } from '../http/problem.ts'
import { publicFiles } from '../representations/views/public-files.ts'
import { pathParameters } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

const filePath = pathParameters({ file: { description: 'A stylesheet, a script or an icon that the pages load.' } })

/** A year, because RFC 9111 has no unlimited time. The URI that pages name changes with the bytes. */
const immutable = 'public, max-age=31536000, immutable'

const describes = {
  id: 'getPublicFile',
  summary: 'What the pages load',
  answers: { 200: 'The file.' },
  sends: ['text/css', 'text/javascript', 'image/svg+xml']
} as const

/** The files that pages load. A URI with the digest of the file's bytes is immutable; any other is revalidated. */
const publicRoute: RoutePlugin = async (app) => {
  app.get('/public/:file', { schema: { params: filePath }, config: { caching: 'catalogue', describes } }, async (request, reply) => {
    const file = publicFiles.get(request.params.file)
    if (!file) throw new Problem('not-found', 'There is no such file.')
    // During a rolling upgrade, a page of the new release may load its file from the old one. So only a matching digest makes the
    // response immutable.
    const named = new URL(request.url, 'http://localhost').searchParams.get('v')
    if (reply.revalidateTag(`"${file.digest}"`, named === file.digest ? immutable : app.cachePolicies.catalogue)) return reply
    return reply.type(file.contentType).send(file.bytes)
  })
}

export default fp(publicRoute, { name: 'public', encapsulate: true, dependencies: ['caching', 'preconditions'] })
