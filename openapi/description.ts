import type { ProblemCode } from '../http/problem-codes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The facts that OpenAPI needs in addition to the route's schema, media types, access and caching. */
    describes?: Description
  }
}

/** The form of a route that has no document. */
export interface OwnForm {
  /** False: a program posts without a body. */
  readonly required: boolean
  /** The names of the fields, with their descriptions. */
  readonly fields: Readonly<Record<string, string>>
}

/** The OpenAPI description of a route. Routes without it do not appear in the API's description. */
export interface Description {
  /** The operationId, which is unique in the API. Generated clients use it as a function name. */
  readonly id: string
  readonly summary: string
  /** Further information, in Markdown. */
  readonly notes?: string
  /** The successful responses, by status. */
  readonly answers: Readonly<Record<number, string>>
  /** Problems in addition to those that follow from the route's other declarations. */
  readonly problems?: readonly ProblemCode[]
  /** The route reads Idempotency-Key. */
  readonly idempotent?: true
  /** The answer 200 can also be about something that is not stored. */
  readonly checks?: true
  /** The route is outside the base path, for the operator. */
  readonly outside?: true
  /** The route honours `Prefer: wait`. */
  readonly waits?: true
  /** The answer is shown only once: it has no entity tag, and `Prefer` does not leave it out. */
  readonly shownOnce?: true
  /** The answer has an entity tag, although its media type is not negotiated. */
  readonly tagged?: true
  /** The form that the route reads itself. Without this, a route that takes only forms reads the method to perform from `_method`. */
  readonly reads?: OwnForm
  /** The media types of the response, if they are not negotiated. */
  readonly sends?: readonly string[]
}
