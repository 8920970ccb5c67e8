import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isForm } from '../http/form-post.ts'
import { curlAdvice, mediaTypes, unsupported } from '../http/media-types.ts'
import { Problem } from '../http/problem.ts'

/** In the order in which Allow lists them. */
const order = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/** What is said of every URI at which there is nothing. */
export const nothing = 'No resource has this URI. Follow the links from the service at its root.'

interface Offer {
  readonly methods: Set<string>
  /** What POST reads, for OPTIONS. */
  readonly accepts: Set<string>
}

/**
 * Judges content by what the headers say of it, before it is read (RFC 9110 sections 8.3 and 8.4).
 * @throws Problem `unsupported-media-type`
 */
function checkContent(request: FastifyRequest): void {
  const { headers, method } = request
  const { schema } = request.routeOptions
  if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) {
    // Some clients name a type for the content that they do not send: there is nothing to read.
    if (!schema?.body) delete headers['content-type']
    return
  }
  if (method === 'GET' || method === 'HEAD') return
  const accepts = mediaTypes(method, request.routeOptions)
  if (accepts.length === 0) throw new Problem('unsupported-media-type', `${method} takes no content here.`)
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    const detail = `The content coding ${JSON.stringify(coding)} is not read here: send the body as it is.`
    throw new Problem('unsupported-media-type', detail, { headers: { 'accept-encoding': 'identity' } })
  }
  const type = headers['content-type']
  if (type === undefined) throw unsupported(request, 'The body has no Content-Type.', accepts)
  if (!accepts.includes(request.mediaType ?? '')) {
    const hint = isForm(request) ? ` ${curlAdvice(accepts[0] ?? '')}` : ''
    throw unsupported(request, `${JSON.stringify(type)} is not read here; there is ${accepts.join(', ')}.${hint}`, accepts)
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1]
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8') {
    throw unsupported(request, `The charset ${JSON.stringify(charset)} is not read here: send UTF-8.`, accepts)
  }
}

/**
 * A client that sends Content-Range means a part, and would lose the rest (RFC 9110 section 14.5).
 * @throws Problem `malformed-request`
 */
function refusePart({ method, headers }: FastifyRequest): void {
  if (method !== 'PUT' || headers['content-range'] === undefined) return
  throw new Problem('malformed-request', 'A PUT with Content-Range replaces a part, which is not offered here: send the whole without it.')
}

/** Answers OPTIONS, 405 with Allow for every method that a known path does not have, and 415. Registered before the routes. */
export default fp(
  async function methods(app: FastifyInstance) {
    const offers = new Map<string, Offer>()
    // Node's parser knows more methods than Fastify: each must be known to be refused by name, not as an unknown path.
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

    // The router takes `/order/` for an order without an id: a URI with a trailing slash is another, and nothing is there.
    app.addHook('onRequest', async ({ params }) => {
      if (Object.values(params as object).includes('')) throw new Problem('not-found', nothing)
    })

    app.addHook('preParsing', async (request, _reply, payload) => {
      // Else the body that was sent to nowhere would be read, and judged.
      if (request.is404) throw new Problem('not-found', nothing)
      refusePart(request)
      checkContent(request)
      return payload
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
            throw new Problem('method-not-allowed', `${request.method} is not offered here; there is ${allow}.`, {
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
    /** Called once, after the last route: gives every path its OPTIONS and its 405s. */
    completeMethods(): void
  }
}
