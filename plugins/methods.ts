import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { checkContent, refusePartialPut } from '../http/content.ts'
import { addCheck } from '../http/hooks.ts'
import { mediaTypes } from '../http/media-types.ts'
import { noResource, Problem } from '../http/problem.ts'

/** The order of the methods in Allow. */
const order = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

interface PathMethods {
  readonly methods: Set<string>
  /** The media types that POST accepts, for OPTIONS. */
  readonly accepts: Set<string>
}

/** Answers OPTIONS, 405 for unsupported methods of known paths, and 415. Register this before the routes. */
export default fp(
  async function methods(app: FastifyInstance) {
    const offers = new Map<string, PathMethods>()
    // Node's parser knows more methods than Fastify. They are added so that known paths refuse them with 405 instead of 404.
    for (const method of METHODS) {
      if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
    }

    app.addHook('onRoute', ({ url, method, schema, config }) => {
      const offer = offers.get(url) ?? { methods: new Set(['OPTIONS']), accepts: new Set() }
      offers.set(url, offer)
      for (const one of [method].flat()) {
        offer.methods.add(one)
        if (one === 'GET') offer.methods.add('HEAD')
        if (one === 'POST') for (const type of mediaTypes(one, { schema, config })) offer.accepts.add(type)
      }
    })

    // The router matches `/order/` with an empty id. A URI with a trailing slash is another URI, which has no resource.
    addCheck(app, 'onRequest', ({ params }) => {
      if (Object.values(params as object).includes('')) throw noResource()
    })

    addCheck(app, 'preParsing', (request) => {
      // Otherwise the body of a request to an unknown URI would be read and validated.
      if (request.is404) throw noResource()
      refusePartialPut(request)
      checkContent(request)
    })

    app.decorate('completeMethods', () => {
      for (const [url, offer] of [...offers]) {
        const allow = order.filter((method) => offer.methods.has(method)).join(', ')
        const headers = { allow, ...(offer.accepts.size > 0 ? { 'accept-post': [...offer.accepts].join(', ') } : {}) }
        app.options(url, async (_request, reply) => reply.code(204).headers(headers).send())
        const others = app.supportedMethods.filter((method) => !offer.methods.has(method))
        app.route({
          method: others,
          url,
          exposeHeadRoute: false,
          onRequest: async (request) => {
            throw new Problem('method-not-allowed', `${request.method} is not allowed here. Allowed: ${allow}.`, {
              headers: { allow },
              available: allow.split(', ')
            })
          },
          handler: async () => undefined
        })
      }
    })
  },
  { name: 'methods', fastify: '5.x', dependencies: ['problems'] }
)

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds OPTIONS and the 405 responses to every path. Call it once, after the last route. */
    completeMethods(): void
  }
}
