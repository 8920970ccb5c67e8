import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.ts'
import { type TypedForm, typedForm } from '../http/form-post.ts'
import { addCheck } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import { pageContentType } from '../representations/representation.ts'

/** How a route answers a person's form. */
export interface FormPages {
  /** The form with its errors and the typed values. Absent or undefined: the problem's own page is the answer. */
  readonly refused?: (request: FastifyRequest, problem: ProblemDocument, typed: TypedForm) => Promise<string | undefined>
  /** The form with more lines, or with the products that its lines name, after a `_more` button. Nothing is validated or stored. */
  readonly more?: (request: FastifyRequest, typed: TypedForm) => Promise<string | undefined>
  /** The page that a result leads to says what was done: it has the notice of views/done.eta, which is shown at `#done`. */
  readonly confirms?: true
  /** False: the route itself answers the form. Else the answer is a redirect to what was written. */
  readonly redirects?: false
}

declare module 'fastify' {
  interface FastifyContextConfig {
    form?: FormPages
  }
  interface FastifyReply {
    /** Sends the page of a form, which nobody may cache. */
    sendForm(page: string | undefined): FastifyReply
  }
}

/** Answers a browser's form: a result becomes a 303 to what was written, and a problem becomes the form again. */
export default fp(
  async function formPages(app: FastifyInstance) {
    app.addHook('onRoute', (route) => {
      const { more, refused } = route.config?.form ?? {}
      if (more) route.preValidation = [showMore(more), ...[route.preValidation ?? []].flat()]
      if (!refused) return
      route.errorHandler = async (error, request, reply) => reply.sendProblem(error, (problem) => refusedForm(refused, request, problem))
    })

    app.decorateReply('sendForm', function (this: FastifyReply, page: string | undefined): FastifyReply {
      return this.headers({ 'cache-control': app.cachePolicies.never, 'content-type': pageContentType }).send(page)
    })

    addCheck(app, 'preHandler', (request, reply) => {
      const typed = typedForm(request)
      const { redirects = true, confirms = false } = request.routeOptions.config.form ?? {}
      if (!typed || !redirects) return
      reply.redirectToResult(confirms ? '#done' : '')
      if (!typed.isCut) request.showOnPage({ typed: [...typed.fields] })
    })

    function showMore(more: NonNullable<FormPages['more']>) {
      return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
        const typed = typedForm(request)
        if (!typed?.fields.has('_more') || !request.isPage) return undefined
        return reply.sendForm(await more(request, typed))
      }
    }
  },
  { name: 'form-pages', fastify: '5.x', dependencies: ['authorization', 'caching', 'documents', 'problems', 'representation'] }
)

/** The page of a refused form. If it fails, the client gets the problem without it. */
async function refusedForm(
  refused: NonNullable<FormPages['refused']>,
  request: FastifyRequest,
  problem: ProblemDocument
): Promise<string | undefined> {
  const typed = typedForm(request)
  if (!typed || !request.isPage) return undefined
  try {
    return await refused(request, problem, typed)
  } catch (error) {
    // A caller who may not see the order, or names none, gets only the problem.
    const isExpected = error instanceof Problem || error instanceof DomainError
    if (!isExpected) request.log.warn({ err: error }, 'the form could not be shown again')
    return undefined
  }
}
