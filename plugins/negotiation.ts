import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { type Chooser, makeChooser } from '../http/accept.ts'
import { checking } from '../http/hooks.ts'
import { ublMediaTypes } from '../http/media-types.ts'
import { type DocumentNotation, isIn, notationOf } from '../http/notation.ts'
import { Problem } from '../http/problem.ts'
import type { Representation, Representations } from '../representations/representation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The representations of the route's resource. One of them is negotiated before the handler runs. */
    represents?: Representations<never>
  }
  interface FastifyRequest {
    /** The representation that the client will get. */
    representation: Representation<never> | undefined
  }
}

type Variants = readonly Representation<never>[]

/** The choosers for the variants of one resource: the notation of the request's own document decides too. */
type Choosers = Readonly<Record<DocumentNotation | 'none', Chooser>>

/** @param alsoXml further media types of the XML that a client can get */
function makeChoosers(variants: Variants, alsoXml: readonly string[]): Choosers {
  const chooserFor = (notation: DocumentNotation | undefined) =>
    makeChooser(
      variants.map((variant) => ({
        names: [variant.mediaType, ...(variant.suffix === 'xml' ? alsoXml : [])],
        alias: variant.alias ?? false,
        own: isIn(notation, variant)
      }))
    )
  return { xml: chooserFor('xml'), json: chooserFor('json'), none: chooserFor(undefined) }
}

/** Chooses the representation by Accept and by the document's notation. A 406 comes before the body is read, so nothing is stored. */
export default fp(
  async function negotiation(app: FastifyInstance) {
    const known = new WeakMap<FastifyContextConfig, Choosers>()
    function choosersOf(config: FastifyContextConfig, variants: Variants): Choosers {
      const choosers = known.get(config) ?? makeChoosers(variants, config.buyers ? ublMediaTypes : [])
      known.set(config, choosers)
      return choosers
    }

    app.decorateRequest('representation', undefined)
    app.addHook(
      'onRequest',
      checking((request, reply) => {
        const variants = request.routeOptions.config.represents?.variants
        if (!variants) return
        if (variants.length > 1) reply.header('vary', 'Accept')
        const choose = choosersOf(request.routeOptions.config, variants)[notationOf(request) ?? 'none']
        request.representation = variants[choose(request.headers.accept)]
        if (!request.representation) {
          const available = variants.map(({ mediaType }) => mediaType)
          throw new Problem(
            'not-acceptable',
            `The Accept header includes none of the media types available here: ${available.join(', ')}.`,
            {
              available
            }
          )
        }
      })
    )
  },
  { name: 'negotiation', fastify: '5.x', dependencies: ['problems'] }
)
