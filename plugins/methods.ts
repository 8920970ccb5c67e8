import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import findMyWay from 'find-my-way'
import type { Config } from '../config.ts'
import { checkContent, refusePartialPut } from '../http/content.ts'
import { addCheck } from '../http/hooks.ts'
import { mediaTypes } from '../http/media-types.ts'
import { methodOrder } from '../http/methods.ts'
import { noResource, Problem } from '../http/problem.ts'

interface PathMethods {
  readonly methods: Set<string>
  /** The media types that POST accepts, for OPTIONS. */
  readonly accepts: Set<string>
}

/** The facts about the path of a request that no route takes. */
interface Path {
  readonly pattern: string
  readonly allow: string
}

/** For a HEAD without a payload, Fastify says that the length is 0. For a 304, it would be that of the 200 (RFC 9110 section 8.6). */
function removeLengthOf304(_request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void {
  if (reply.statusCode === 304) reply.removeHeader('content-length')
  done()
}

function hasEmptyPart(params: unknown): boolean {
  return Object.values(params as object).includes('')
}

/** Answers OPTIONS, 405 for unsupported methods of known paths, and 415. Register this before the routes. */
export default fp(
  async function methods(app: FastifyInstance, { config }: { config: Config }) {
    const base = config.BASE_URL.path
    const offers = new Map<string, PathMethods>()
    // Finds the path of a request that no route takes, whatever its method: to have Fastify route each of the 30 other methods of each
    // path took a third of the time in which the service is built. The length of a target is limited before it gets here.
    const paths = findMyWay({ maxParamLength: Number.POSITIVE_INFINITY })
    const pathOf = (request: FastifyRequest) => (request.is404 ? paths.find('GET', request.url) : null)

    app.addHook('onRoute', (route) => {
      const { url, method, schema, config } = route
      if (method === 'HEAD') route.onSend = [...[route.onSend ?? []].flat(), removeLengthOf304]
      const offer = offers.get(url) ?? { methods: new Set(['OPTIONS']), accepts: new Set() }
      offers.set(url, offer)
      for (const one of [method].flat()) {
        offer.methods.add(one)
        if (one === 'GET') offer.methods.add('HEAD')
        if (one === 'POST') for (const type of mediaTypes(one, { schema, config })) offer.accepts.add(type)
      }
    })

    // The router matches `/order/` with an empty id. A URI with a trailing slash is another URI, which has no resource.
    addCheck(app, 'onRequest', ({ params, url }) => {
      if (hasEmptyPart(params)) throw noResource(base, url)
    })

    addCheck(app, 'preParsing', (request) => {
      // Otherwise the body of a request to an unknown URI would be read and validated.
      if (request.is404) throw noResource(base, request.url)
      refusePartialPut(request)
      checkContent(request)
    })

    app.decorate('completeMethods', () => {
      for (const [url, offer] of [...offers]) {
        const allow = methodOrder.filter((method) => offer.methods.has(method)).join(', ')
        const headers = { allow, ...(offer.accepts.size > 0 ? { 'accept-post': [...offer.accepts].join(', ') } : {}) }
        app.options(url, async (_request, reply) => reply.code(204).headers(headers).send())
        paths.on('GET', url, () => undefined, { pattern: url, allow } satisfies Path)
      }
      // This step is the last of its stage, so every other refusal goes first.
      addCheck(app, 'onRequest', (request) => {
        const path = pathOf(request)
        if (path === null || hasEmptyPart(path.params)) return
        const { allow }: Path = path.store
        throw new Problem('method-not-allowed', `${request.method} is not allowed here. Allowed: ${allow}.`, {
          headers: { allow },
          available: allow.split(', ')
        })
      })
    })
    app.decorateRequest('routePattern', {
      getter(this: FastifyRequest) {
        return this.routeOptions.url ?? (pathOf(this)?.store as Path | undefined)?.pattern
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
  interface FastifyRequest {
    /** The pattern of the path, also where it does not have the method. Undefined if there is no such path. */
    readonly routePattern: string | undefined
  }
}
