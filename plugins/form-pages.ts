import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'
import type { ProblemDocument } from '../representations/problem.ts'

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
    /** The page for a refused form post, if this is one and a person waits for the answer. */
    refusedForm(problem: ProblemDocument): Promise<string | undefined>
  }
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

/** The way out of a browser's form: it is answered with 303 to what was written, or with the form again. */
export default fp(
  async function formPages(app: FastifyInstance) {
    app.addHook('onRoute', (route) => {
      if (route.config?.form) route.handler = answerForms(route.handler)
    })

    app.decorateRequest('refusedForm', async function (this: FastifyRequest, problem: ProblemDocument) {
      const { form } = this.routeOptions.config
      return form && this.form() && this.representation?.mediaType === 'text/html' ? form.refused(this, problem) : undefined
    })

    app.addHook('preValidation', async (request, reply) => {
      const { form } = request.routeOptions.config
      if (!form?.more || !request.form()?.has('_more') || request.representation?.mediaType !== 'text/html') return
      const page = await form.more(request)
      return reply.headers({ 'cache-control': app.cachePolicies.never }).type('text/html; charset=utf-8').send(page)
    })
  },
  { name: 'form-pages', fastify: '5.x', dependencies: ['authorization', 'caching', 'documents'] }
)
