import type { ProblemCode } from '../http/problem-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the API's description cannot see in the route's schema, media types, access and caching. */
    describes?: Description
  }
}

/** A route's own part of its description; a route without one is not described. */
export interface Description {
  /** The name of the operation in client code: once in the whole API. */
  readonly id: string
  readonly summary: string
  /** What there is to know besides, in Markdown. */
  readonly notes?: string
  /** What it answers when all is well, by status. */
  readonly answers: Readonly<Record<number, string>>
  /** The problems beside those that follow from what else the route declares. */
  readonly problems?: readonly ProblemCode[]
  /** Reads Idempotency-Key. */
  readonly idempotent?: true
  /** Outside the base path: for the operator. */
  readonly outside?: true
  /** Reads what the form of a page posts. */
  readonly form?: true
  /** Media types, where nothing is negotiated. */
  readonly sends?: readonly string[]
}
