import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.ts'
import { challenge } from '../http/credentials.ts'
import { Problem } from '../http/problem.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import type { DocumentSchema } from '../schemas/document.ts'
import { formMediaType } from '../schemas/form.ts'

/** The pages that a route answers a person's form with, besides going on to the resource. */
export interface FormPages {
  /** The form again, with what is wrong and what was typed; undefined: the problem's own page. */
  readonly refused: (request: FastifyRequest, problem: ProblemDocument) => Promise<string | undefined>
  /** The form again with more room, or with what its lines name, when a `_more` button was pressed: nothing is judged or stored. */
  readonly more?: (request: FastifyRequest) => Promise<string | undefined>
}

/** The methods that a page's form can ask for, each with the schema of the document that the fields make. */
export type FormMethods = Readonly<Record<string, { readonly body?: DocumentSchema<unknown> }>>

declare module 'fastify' {
  interface FastifyContextConfig {
    form?: FormPages
  }
  interface FastifyInstance {
    /**
     * The handler of a POST route that receives a page's form: a browser's forms know no PUT and DELETE. It runs the route
     * of the same URL that has the method of the form's `_method` field.
     */
    performs(methods: FormMethods): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  }
  interface FastifyRequest {
    /** The page for a refused form post, if this is one and a person waits for the answer. */
    refusedForm(problem: ProblemDocument): Promise<string | undefined>
  }
}

/** Whose order a page said that it would be: a person who was signed out since must not order as a guest unawares. */
export const customerField = '_customer'
const customerHeader = 'tradepost-customer'

/** In the script's header, percent-encoded: header fields hold no more than ISO 8859-1. */
function claimed(request: FastifyRequest): string {
  const header = request.headers[customerHeader]
  if (typeof header !== 'string') return request.form()?.get(customerField) ?? ''
  try {
    return decodeURIComponent(header)
  } catch {
    throw new Problem('malformed-request', 'Tradepost-Customer must be percent-encoded UTF-8.')
  }
}

function checkCustomer(request: FastifyRequest): void {
  const customer = claimed(request)
  if (customer === '' || (request.caller?.kind === 'key' && request.caller.customer === customer)) return
  throw new Problem(
    'unauthenticated',
    `You are no longer signed in as ${customer}. Sign in again, in another tab if you like, and send the form once more.`,
    { headers: challenge }
  )
}

/** A reply that answers a write with 303 to what was written, for a browser, where a machine gets the representation. */
function leadingOn(reply: FastifyReply): FastifyReply {
  const pathOf = (uri: string) => uri.replace(/\?.*/s, '')
  return Object.create(reply, {
    represent: { value: (_value: unknown, uri = reply.request.url) => reply.redirect(pathOf(uri), 303) },
    created: { value: (uri: string) => reply.redirect(uri, 303) }
  })
}

function answerForms(handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    return handler.call(this, request, request.form() ? leadingOn(reply) : reply)
  }
}

/** The form of a request, and what it asks for. @throws Problem `unsupported-media-type`, `malformed-request` */
function readForm(request: FastifyRequest, methods: FormMethods) {
  const names = Object.keys(methods).join(' or ')
  const fields = request.form()
  if (!fields) {
    throw new Problem('unsupported-media-type', `Only a page's form is posted here; a document is sent by ${names}.`, {
      headers: { 'accept-post': formMediaType }
    })
  }
  const method = fields.get('_method') ?? ''
  const asked = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (!asked) throw new Problem('malformed-request', `_method must be ${names}.`)
  return { fields, method, body: asked.body }
}

/** Writes again after a write overtook this one: if the form was sent twice at once, the second run finds the change done. */
async function tryAgain<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof DomainError && error.code === 'precondition-failed') return write()
    throw error
  }
}

/** Forms of people: the same resources, verbs and preconditions as a machine's documents, by POST and with pages for answers. */
export default fp(
  async function forms(app: FastifyInstance) {
    const handlers = new Map<string, RouteHandlerMethod>()
    app.addHook('onRoute', (route) => {
      if (typeof route.method === 'string') handlers.set(`${route.method} ${route.url}`, route.handler)
      if (route.config?.form) route.handler = answerForms(route.handler)
    })

    app.decorate('performs', (methods: FormMethods) => async (request: FastifyRequest, reply: FastifyReply) => {
      const { fields, method, body } = readForm(request, methods)
      const handler = handlers.get(`${method} ${request.routeOptions.url}`)
      if (!handler) throw new Error(`${request.routeOptions.url} has no ${method} for its form`)
      const tag = fields.get('_if-match')
      if (tag) request.headers['if-match'] = tag
      if (body) await request.submission?.become(body)
      return tryAgain(async () => handler.call(app, request, reply))
    })

    app.decorateRequest('refusedForm', async function (this: FastifyRequest, problem: ProblemDocument) {
      const { form } = this.routeOptions.config
      return form && this.form() && this.representation?.mediaType === 'text/html' ? form.refused(this, problem) : undefined
    })

    app.addHook('preValidation', async (request, reply) => {
      request.authorize()
      checkCustomer(request)
      const { form } = request.routeOptions.config
      if (!form?.more || !request.form()?.has('_more') || request.representation?.mediaType !== 'text/html') return
      const page = await form.more(request)
      return reply.headers({ 'cache-control': app.cachePolicies.never }).type('text/html; charset=utf-8').send(page)
    })
  },
  { name: 'forms', fastify: '5.x', dependencies: ['auth', 'documents', 'preconditions', 'caching'] }
)
