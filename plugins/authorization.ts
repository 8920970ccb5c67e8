import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { startsAsCxml } from '../dialects/cxml/doctype.ts'
import { accessRefusal, customerRefusal, type RouteAccess } from '../http/access.ts'
import { addCheck } from '../http/hooks.ts'
import { isShownAgain, mayBeCxml } from './auth.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Checks again whether the caller may use the route, after the request's document has named the caller. @throws Problem */
    authorize(request: FastifyRequest): void
  }
  interface FastifyContextConfig {
    /** Absent: everybody may use the route. */
    access?: RouteAccess
  }
}

/**
 * Decides whether the caller that plugins/auth found may use the route. A machine is refused before its document is read. A form
 * that a page shows again is read before the check, so that a refused person gets it back with the input. cXML is read first too,
 * because it can contain the key and must be answered in cXML.
 */
export default fp(
  async function authorization(app: FastifyInstance, { config }: { config: Config }) {
    const waiting = new WeakSet<FastifyRequest>()

    addCheck(app, 'onRequest', (request) => {
      if (isShownAgain(request) || (mayBeCxml(request) && refusalOf(request))) waiting.add(request)
      else authorize(request)
    })
    addCheck(app, 'preValidation', (request) => {
      // A cXML document can have its sender's key, so plugins/buyer-documents asks again when it is read.
      if (waiting.has(request) && !isCxmlSubmission(request)) authorize(request)
    })
    app.decorate('authorize', authorize)

    function authorize(request: FastifyRequest): void {
      const refusal = refusalOf(request)
      if (refusal) throw refusal
    }

    function refusalOf(request: FastifyRequest): Error | undefined {
      const { caller, keyRefusal, routeOptions } = request
      const { access } = routeOptions.config
      const ofCustomer = () => customerRefusal(caller, request.operation.customer)
      // The refusal of a form names the customer who is no longer signed in.
      if (keyRefusal) return ofCustomer() ?? keyRefusal
      return (access && accessRefusal(caller, access, config.GUEST_ORDERS)) ?? ofCustomer()
    }
  },
  { name: 'authorization', fastify: '5.x', dependencies: ['auth', 'form-requests'] }
)

function isCxmlSubmission({ submission }: FastifyRequest): boolean {
  return submission?.notation === 'xml' && startsAsCxml(submission.bytes)
}
