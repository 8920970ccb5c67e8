import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'
import { hasCode } from '../domain/errors.ts'
import { unsupported } from '../http/media-types.ts'
import { type Operation, operationOf } from '../http/operation.ts'
import { Problem } from '../http/problem.ts'
import type { DocumentSchema } from '../schemas/document.ts'
import { formMediaType } from '../schemas/form.ts'

/** The methods that a page's form can ask for, each with the schema of the document that the fields make. */
export type FormMethods = Readonly<Record<string, { readonly body?: DocumentSchema<unknown> }>>

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The handler of a POST route that receives a page's form. A browser's form can send neither PUT nor DELETE. So the handler
     * reads the form's document, and runs the route of the same URL that has the method of the form's `_method` field.
     */
    performs(methods: FormMethods): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  }
  interface FastifyRequest {
    /** The operation that the request asks for. A form's fields count once the form is read. */
    readonly operation: Operation
  }
}

/** Turns a browser's form into the request that a machine would have sent, so that the routes need not know about forms. */
export default fp(
  async function formRequests(app: FastifyInstance) {
    const handlers = new Map<string, RouteHandlerMethod>()
    app.addHook('onRoute', ({ method, url, handler }) => {
      if (typeof method === 'string') handlers.set(`${method} ${url}`, handler)
    })

    app.decorateRequest('operation', {
      getter(this: FastifyRequest) {
        return operationOf(this, this.form())
      }
    })

    app.decorate('performs', (methods: FormMethods) => async (request: FastifyRequest, reply: FastifyReply) => {
      const { method, body } = performed(request, methods)
      const handler = handlers.get(`${method} ${request.routeOptions.url}`)
      if (!handler) throw new Error(`${request.routeOptions.url} has no ${method} for its form`)
      if (body) await request.submission?.readAs(body)
      return tryAgain(async () => handler.call(app, request, reply))
    })
  },
  { name: 'form-requests', fastify: '5.x', dependencies: ['documents'] }
)

/** The method that a form asks for. @throws Problem `unsupported-media-type`, `malformed-request` */
function performed(request: FastifyRequest, methods: FormMethods) {
  const names = Object.keys(methods).join(' or ')
  if (!request.form()) {
    throw unsupported(request, `POST here takes only the form of the page. Programs use ${names}.`, [formMediaType])
  }
  const { method } = request.operation
  const asked = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (!asked) throw new Problem('malformed-request', `_method must be ${names}.`)
  return { method, body: asked.body }
}

/** Writes again if another write came first. If a form was sent twice at once, the second attempt finds the change already made. */
async function tryAgain<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (hasCode(error, 'precondition-failed')) return write()
    throw error
  }
}
