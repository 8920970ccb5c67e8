import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { choose } from '../http/accept.ts'
import { addCheck } from '../http/hooks.ts'
import { ublMediaTypes } from '../http/media-types.ts'
import { notationOf } from '../http/notation.ts'
import { Problem } from '../http/problem.ts'
import { makeVariantChoosers, type VariantChoosers, type Variants, variantOffers } from '../http/variant-choosers.ts'
import type { Representation, Representations } from '../representations/representation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The representations of the route's resource. One of them is negotiated before the handler runs. */
    represents?: Representations<never>
  }
  interface FastifyRequest {
    /** The representation that the client will get. */
    representation: Representation<never> | undefined
    /** Whether that is a page for people. */
    readonly isPage: boolean
    /** Chooses again, without the pages: a document in a buyer's vocabulary is never answered with one. @throws Problem `not-acceptable` */
    refusePage(): void
  }
}

/** Pages are never the answer to a document in a buyer's vocabulary. Whether XML is one is only known once it is read. */
function isForAnyDocument(request: FastifyRequest, { suffix }: Representation<never>): boolean {
  return suffix !== 'html' || request.routeOptions.config.buyers === undefined || notationOf(request) !== 'xml'
}

/** @throws Problem `not-acceptable` */
function select(request: FastifyRequest, variants: Variants, chosen: number): void {
  request.representation = variants[chosen]
  if (request.representation) return
  const available = variants.filter((variant) => isForAnyDocument(request, variant)).map(({ mediaType }) => mediaType)
  const detail = `The Accept header includes none of the media types available here: ${available.join(', ')}.`
  throw new Problem('not-acceptable', detail, { available })
}

/** Chooses the representation by Accept and by the document's notation. A 406 comes before the body is read, so nothing is stored. */
export default fp(
  async function negotiation(app: FastifyInstance) {
    const known = new WeakMap<FastifyContextConfig, VariantChoosers>()
    function choosersOf(config: FastifyContextConfig, variants: Variants): VariantChoosers {
      const choosers = known.get(config) ?? makeVariantChoosers(variants, config.buyers ? ublMediaTypes : [])
      known.set(config, choosers)
      return choosers
    }

    app.decorateRequest('representation', undefined)
    app.decorateRequest('isPage', {
      getter(this: FastifyRequest) {
        return this.representation?.suffix === 'html'
      }
    })
    addCheck(app, 'onRequest', (request, reply) => {
      const variants = request.routeOptions.config.represents?.variants
      if (!variants) return
      if (variants.length > 1) reply.header('vary', 'Accept')
      const chooser = choosersOf(request.routeOptions.config, variants)[notationOf(request) ?? 'none']
      select(request, variants, chooser(request.headers.accept))
    })

    app.decorateRequest('refusePage', function (this: FastifyRequest) {
      if (!this.isPage) return
      const variants = this.routeOptions.config.represents?.variants.filter(({ suffix }) => suffix !== 'html') ?? []
      select(this, variants, choose(this.headers.accept, variantOffers(variants, ublMediaTypes, notationOf(this))))
    })
  },
  { name: 'negotiation', fastify: '5.x', dependencies: ['problems'] }
)
