import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Precondition } from '../domain/preconditions.ts'
import { type Conditions, type Current, isNotModified, preconditionOf, readConditions, type Selected } from '../http/conditions.ts'
import { addCheck } from '../http/hooks.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The POST route checks the request's conditions itself, against a resource that its write changes. */
    checksConditions?: true
  }
  interface FastifyRequest {
    /**
     * Evaluates a GET's or HEAD's conditions against the representation that would be sent.
     * @throws DomainError `precondition-failed` for If-Match and If-Unmodified-Since
     */
    isNotModified(current: Selected): boolean
    /**
     * Evaluates a write's conditions against the current resource. Returns the condition that the store must check again.
     * @param current undefined when there is nothing at the URI
     * @param replaces whether the write needs If-Match, since it replaces what the caller read
     * @throws DomainError `precondition-failed`, Problem `precondition-required`
     */
    precondition(current: Current | undefined, replaces?: 'replaces'): Precondition
    /**
     * Whether a write succeeds without its conditions because the resource already is as the write wants it (RFC 9110
     * section 13.1.1): a client that lost the answer can repeat its request.
     * @throws Problem `malformed-request` when the conditions cannot be read
     */
    isAlreadySatisfied(isAsWanted: boolean): boolean
  }
  interface FastifyReply {
    /**
     * Sets the entity tag and the Cache-Control of what a GET or HEAD would be sent. If the client has it already, sends 304.
     * @returns whether the client has it
     * @throws DomainError `precondition-failed` for If-Match
     */
    revalidateTag(tag: string, cacheControl: string): boolean
  }
}

/** A POST's conditions apply to the resource that processes it. That resource exists and has no entity tag. */
const processor: Current = { version: 0, tags: [] }

function conditionsOf({ headers, operation }: FastifyRequest, isRead: boolean): Conditions {
  return readConditions(headers, operation.ifMatch, isRead)
}

/** Conditional requests: RFC 9110 section 13, in the order of its section 13.2.2. */
export default fp(
  async function preconditions(app: FastifyInstance) {
    // A condition that does not hold stops any method (section 13.2.1).
    addCheck(app, 'preHandler', (request) => {
      if (request.operation.method === 'POST' && !request.routeOptions.config.checksConditions) request.precondition(processor)
    })

    app.decorateRequest('isNotModified', function (this: FastifyRequest, current: Selected): boolean {
      return isNotModified(conditionsOf(this, true), current)
    })

    app.decorateReply('revalidateTag', function (this: FastifyReply, tag: string, cacheControl: string): boolean {
      this.headers({ etag: tag, 'cache-control': cacheControl })
      const isKnown = this.request.isNotModified({ tags: [tag] })
      if (isKnown) this.code(304).send()
      return isKnown
    })

    app.decorateRequest('isAlreadySatisfied', function (this: FastifyRequest, isAsWanted: boolean): boolean {
      // A repeated request may disregard If-Match, but never If-None-Match (section 13.1.2).
      const { ifNoneMatch } = conditionsOf(this, false)
      return isAsWanted && ifNoneMatch === undefined
    })

    app.decorateRequest('precondition', function (this: FastifyRequest, current: Current | undefined, replaces?: 'replaces'): Precondition {
      return preconditionOf(conditionsOf(this, false), current, replaces !== undefined)
    })
  },
  { name: 'preconditions', fastify: '5.x', dependencies: ['form-requests', 'problems'] }
)
