import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { choose } from '../http/accept.ts'
import { isIn, notationOf } from '../http/notation.ts'
import { Problem } from '../http/problem.ts'
import type { Representation, Representations } from '../representations/representation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media types of the route's resource: what is negotiated, before anything else is done. */
    represents?: Representations<never>
  }
  interface FastifyRequest {
    /** The one that the client will get. */
    representation: Representation<never> | undefined
  }
}

/** Chooses the representation by Accept and the document's own notation, before a body is read: nothing is stored that could not be answered. */
export default fp(
  async function negotiation(app: FastifyInstance) {
    app.decorateRequest('representation', undefined)
    app.addHook('onRequest', async (request, reply) => {
      const variants = request.routeOptions.config.represents?.variants
      if (!variants) return
      if (variants.length > 1) reply.header('vary', 'Accept')
      const notation = notationOf(request)
      const offers = variants.map((variant) => ({
        names: [variant.mediaType],
        alias: variant.alias ?? false,
        own: isIn(notation, variant)
      }))
      request.representation = variants[choose(request.headers.accept, offers)]
      if (!request.representation) {
        const available = variants.map(({ mediaType }) => mediaType)
        throw new Problem('not-acceptable', `Nothing that Accept names is offered; there is ${available.join(', ')}.`, { available })
      }
    })
  },
  { name: 'negotiation', fastify: '5.x', dependencies: ['problems'] }
)
