import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.ts'
import { challenge } from '../http/credentials.ts'
import { Problem } from '../http/problem.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import { formMediaType } from '../schemas/form.ts'

/** The pages that a route answers a person's form with, besides going on to the resource. */
export interface FormPages {
  /** The form again, with what is wrong and what was typed; undefined: the problem's own page. */
  readonly refused: (request: FastifyRequest, problem: ProblemDocument) => Promise<string | undefined>
  /** The form again with more room, or with what its lines name, when a `_more` button was pressed: nothing is judged or stored. */
  readonly more?: (request: FastifyRequest) => Promise<string | undefined>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    form?: FormPages
  }
  interface FastifyRequest {
    /**
     * Does by POST what a form names in `_method`: a browser's forms know no PUT and DELETE. `_if-match` becomes the
     * request's If-Match, so that the write meets the same preconditions as a machine's.
     * @throws Problem `unsupported-media-type` for anything but a form, `malformed-request` for another method
     */
    asMethod<T>(methods: Readonly<Record<string, () => Promise<T>>>): Promise<T>
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

/** Forms of people: the same resources, verbs and preconditions as a machine's documents, by POST and with pages for answers. */
export default fp(
  async function forms(app: FastifyInstance) {
    app.decorateRequest('asMethod', async function <
      T
    >(this: FastifyRequest, methods: Readonly<Record<string, () => Promise<T>>>): Promise<T> {
      const fields = this.form()
      if (!fields) {
        throw new Problem(
          'unsupported-media-type',
          `Only a page's form is posted here; a document is sent by ${Object.keys(methods).join(' or ')}.`,
          {
            headers: { 'accept-post': formMediaType }
          }
        )
      }
      const name = fields.get('_method') ?? ''
      const method = Object.hasOwn(methods, name) ? methods[name] : undefined
      if (!method) throw new Problem('malformed-request', `_method must be ${Object.keys(methods).join(' or ')}.`)
      const tag = fields.get('_if-match')
      if (tag) this.headers['if-match'] = tag
      try {
        return await method()
      } catch (error) {
        // Sent twice at once: who looks again finds that it is done, or is told that another was quicker.
        if (error instanceof DomainError && error.code === 'precondition-failed') return method()
        throw error
      }
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
