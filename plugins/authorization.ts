import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { startsAsCxml } from '../dialects/cxml/doctype.ts'
import { guest, hasScope, type Scope } from '../domain/caller.ts'
import { unauthenticated } from '../http/credentials.ts'
import { isForm } from '../http/form-post.ts'
import { checking } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import { mayBeCxml } from './auth.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Checks again whether the caller may use the route, after the request's document has named the caller. @throws Problem */
    authorize(request: FastifyRequest): void
  }
  interface FastifyContextConfig {
    /** The callers that may use the route. Absent: everybody may. `guests`: also without a key, while GUEST_ORDERS is on. */
    access?: { readonly anyOf: readonly Scope[]; readonly guests?: true }
  }
}

/**
 * Whether the caller that plugins/auth found may use the route. A machine is refused before its document is read. A
 * page's form is read first, so that a refused person gets the form again with what was typed, and so is what may be cXML: its
 * sender reads only an answer in cXML, and its key may be in it.
 */
export default fp(
  async function authorization(app: FastifyInstance, { config }: { config: Config }) {
    const waiting = new WeakSet<FastifyRequest>()

    app.addHook(
      'onRequest',
      checking((request) => {
        if (request.routeOptions.config.form && isForm(request)) waiting.add(request)
        else if (mayBeCxml(request) && !isAllowed(request)) waiting.add(request)
        else authorize(request)
      })
    )
    app.addHook(
      'preValidation',
      checking((request) => {
        // A cXML document can have its sender's key, so plugins/buyer-documents asks again when it is read.
        if (waiting.has(request) && !isCxmlSubmission(request)) authorize(request)
      })
    )
    app.decorate('authorize', authorize)

    function isAllowed(request: FastifyRequest): boolean {
      try {
        authorize(request)
        return true
      } catch {
        return false
      }
    }

    function authorize(request: FastifyRequest): void {
      if (request.refusedKey) throw request.refusedKey
      checkAccess(request)
      checkCustomer(request)
    }

    function checkAccess({ caller = guest, routeOptions }: FastifyRequest): void {
      const { access } = routeOptions.config
      if (!access) return
      if (caller.kind === 'guest') {
        if (access.guests && config.GUEST_ORDERS) return
        throw unauthenticated('This needs an API key.')
      }
      if (access.anyOf.some((scope) => hasScope(caller, scope))) return
      throw new Problem('forbidden', `This needs a key with the scope ${access.anyOf.join(' or ')}; yours has ${caller.scopes.join(', ')}.`)
    }
  },
  { name: 'authorization', fastify: '5.x', dependencies: ['auth', 'form-requests'] }
)

function isCxmlSubmission({ submission }: FastifyRequest): boolean {
  return submission?.notation === 'xml' && startsAsCxml(submission.bytes)
}

/** A page says whose it is, so that nobody writes as somebody else who signed in or out since. */
function checkCustomer({ caller, operation: { customer } }: FastifyRequest): void {
  if (!customer || (caller?.kind === 'key' && caller.customer === customer)) return
  throw unauthenticated(
    `You are no longer signed in as ${customer}. Sign in again, in another tab if you like, and send the form once more.`
  )
}
