import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { hasBody } from '../http/body.ts'
import { isForm } from '../http/form-post.ts'
import { checking, checkingPayload } from '../http/hooks.ts'
import { charsetOf, charsets, curlAdvice, mediaTypes, unsupported } from '../http/media-types.ts'
import { Problem } from '../http/problem.ts'

/** The order of the methods in Allow. */
const order = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/** The detail for every URI without a resource. */
export const nothing = 'No resource has this URI. Start at the root of the service and follow its links.'

interface PathMethods {
  readonly methods: Set<string>
  /** The media types that POST accepts, for OPTIONS. */
  readonly accepts: Set<string>
}

/**
 * Checks the headers that describe the content, before the content is read (RFC 9110 sections 8.3 and 8.4).
 * @throws Problem `unsupported-media-type`
 */
function checkContent(request: FastifyRequest): void {
  const { headers, method } = request
  const { schema } = request.routeOptions
  if (!hasBody(request)) {
    // Some clients send a Content-Type without content. It must not select a body parser.
    if (!schema?.body) delete headers['content-type']
    return
  }
  if (method === 'GET' || method === 'HEAD') return
  const accepts = mediaTypes(method, request.routeOptions)
  if (accepts.length === 0) throw new Problem('unsupported-media-type', `${method} requests to this URI must not have a body.`)
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    const detail = `The content coding ${JSON.stringify(coding)} is not supported. Send the body without a content coding.`
    throw new Problem('unsupported-media-type', detail, { headers: { 'accept-encoding': 'identity' } })
  }
  const type = headers['content-type']
  if (type === undefined) throw unsupported(request, 'The request has a body but no Content-Type header.', accepts)
  if (!accepts.includes(request.mediaType ?? '')) {
    const hint = isForm(request) ? ` ${curlAdvice(accepts[0] ?? '')}` : ''
    throw unsupported(request, `${JSON.stringify(type)} is not supported here. Send ${accepts.join(' or ')}.${hint}`, accepts)
  }
  const charset = charsetOf(type)
  if (charset !== undefined && !charsets(request.routeOptions).includes(charset.toLowerCase())) {
    throw unsupported(request, `The charset ${JSON.stringify(charset)} is not supported. Send UTF-8.`, accepts)
  }
}

/**
 * Refuses a partial PUT. Content-Range says that the content is only a part; storing it would lose the rest (RFC 9110 section 14.5).
 * @throws Problem `malformed-request`
 */
function refusePartialPut({ method, headers }: FastifyRequest): void {
  if (method !== 'PUT' || headers['content-range'] === undefined) return
  throw new Problem(
    'malformed-request',
    'A PUT with Content-Range would replace only a part, which is not supported. Send the whole document without Content-Range.'
  )
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
    app.addHook(
      'onRequest',
      checking(({ params }) => {
        if (Object.values(params as object).includes('')) throw new Problem('not-found', nothing)
      })
    )

    app.addHook(
      'preParsing',
      checkingPayload((request) => {
        // Otherwise the body of a request to an unknown URI would be read and validated.
        if (request.is404) throw new Problem('not-found', nothing)
        refusePartialPut(request)
        checkContent(request)
      })
    )

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
