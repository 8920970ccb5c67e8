import type { DomainErrorCode } from '../domain/errors.ts'

/** Problems of HTTP, independent of the rules of the shop. */
export type HttpProblemCode =
  | 'malformed-document'
  | 'forbidden-xml'
  | 'malformed-request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'cursor-expired'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'request-timeout'
  | 'body-too-large'
  | 'uri-too-long'
  | 'unsupported-media-type'
  | 'invalid-document'
  | 'document-too-costly'
  | 'precondition-required'
  | 'idempotency-in-flight'
  | 'too-many-requests'
  | 'headers-too-large'
  | 'expectation-failed'
  | 'internal-error'
  | 'not-implemented'
  | 'version-not-supported'
  | 'overloaded'
  | 'stopping'

export type ProblemCode = DomainErrorCode | HttpProblemCode

/** The codes for errors of Fastify and its plugins, by their status. */
export const codesByStatus: Readonly<Record<number, ProblemCode>> = {
  400: 'malformed-request',
  404: 'not-found',
  405: 'method-not-allowed',
  408: 'request-timeout',
  413: 'body-too-large',
  414: 'uri-too-long',
  415: 'unsupported-media-type',
  429: 'too-many-requests',
  431: 'headers-too-large',
  500: 'internal-error',
  503: 'overloaded'
}
