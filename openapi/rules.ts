import type { FastifyContextConfig } from 'fastify'
import type { ProblemCode } from '../http/problem-types.ts'
import { isDocumentSchema } from '../schemas/document.ts'
import type { Description } from './description.ts'
import type { RequestField, ResponseField } from './fields.ts'

/** A route as the description sees it. */
export interface DescribedRoute {
  readonly method: string
  /** Without the base path, in Fastify's notation. */
  readonly path: string
  readonly schema: { readonly body?: unknown; readonly querystring?: unknown; readonly params?: unknown }
  readonly config: FastifyContextConfig
  readonly describes: Description
}

const reads = new Set(['GET', 'HEAD'])

export function isRead({ method }: DescribedRoute): boolean {
  return reads.has(method)
}

/** Whether it is what a page's form posts to: a browser knows no PUT and DELETE. */
export function isPageForm({ config, schema, describes }: DescribedRoute): boolean {
  return (config.form !== undefined || describes.form === true) && schema.body === undefined
}

/** Whether it answers with what was written, unless that is not wanted. */
export function prefers(route: DescribedRoute): boolean {
  const { config, describes } = route
  return !isRead(route) && config.represents !== undefined && !isPageForm(route) && (200 in describes.answers || 201 in describes.answers)
}

/** Whether it answers conditional requests, and so sends an entity tag. */
export function hasValidators({ config }: DescribedRoute): boolean {
  return config.represents ? config.represents.validators !== undefined : config.caching === 'catalogue'
}

/** What can go wrong by what the route declares. */
export function problemsOf(route: DescribedRoute): ReadonlySet<ProblemCode> {
  const { config, schema, describes } = route
  const codes = new Set<ProblemCode>([
    'malformed-request',
    'unauthenticated',
    'uri-too-long',
    'internal-error',
    'overloaded',
    'store-unavailable'
  ])
  const add = (condition: unknown, ...more: ProblemCode[]) => {
    if (condition) for (const code of more) codes.add(code)
  }
  add(!config.unlimited, 'too-many-requests')
  // A form that says that it comes from elsewhere is refused.
  add(config.access || isPageForm(route), 'forbidden')
  add(schema.params, 'not-found')
  add(config.represents, 'not-acceptable')
  add(
    isDocumentSchema(schema.body) || isPageForm(route),
    'malformed-document',
    'forbidden-xml',
    'body-too-large',
    'unsupported-media-type',
    'invalid-document'
  )
  // A POST's conditions are compared with the resource that processes it; a read's also where there is no tag.
  add(hasValidators(route) || config.represents, 'precondition-failed')
  add(route.method === 'PUT' || (isPageForm(route) && hasValidators(route)), 'precondition-required')
  add(!isRead(route), 'store-overloaded')
  add(describes.idempotent, 'idempotency-in-flight', 'idempotency-key-reused')
  add(true, ...(describes.problems ?? []))
  return codes
}

export function requestFieldsOf(route: DescribedRoute): readonly RequestField[] {
  const conditional = hasValidators(route) && route.method !== 'POST'
  return [
    ...(conditional ? (['IfMatch', 'IfNoneMatch', 'IfUnmodifiedSince'] as const) : []),
    ...(conditional && isRead(route) ? (['IfModifiedSince'] as const) : []),
    ...(route.describes.idempotent ? (['IdempotencyKey'] as const) : []),
    ...(prefers(route) ? (['Prefer'] as const) : [])
  ]
}

/** Whether a success has an entity tag. One of PUT without content has none (RFC 9110 section 9.3.4). */
function tellsVersion(route: DescribedRoute, status: number): boolean {
  if (!hasValidators(route) || status === 303) return false
  return status !== 204 || (prefers(route) && route.method !== 'PUT')
}

export function responseFieldsOf(route: DescribedRoute, status: number): readonly ResponseField[] {
  const { config, describes } = route
  const represented = config.represents !== undefined && status !== 204 && status !== 303
  // A creation that was done before says where what it made is.
  const repeats = route.method === 'POST' && 201 in describes.answers
  return [
    ...(status === 201 || status === 303 || repeats ? (['Location'] as const) : []),
    ...(tellsVersion(route, status) ? (['ETag', 'Last-Modified'] as const) : []),
    ...(config.represents || config.caching ? (['Cache-Control'] as const) : []),
    ...((config.represents?.variants.length ?? 0) > 1 ? (['Vary'] as const) : []),
    ...(represented && config.represents?.schema !== undefined ? (['Link'] as const) : []),
    ...(describes.idempotent ? (['Idempotent-Replayed'] as const) : []),
    ...(prefers(route) ? (['Preference-Applied', 'Content-Location'] as const) : []),
    ...(config.unlimited ? [] : (['RateLimit', 'RateLimit-Policy'] as const)),
    'X-Request-Id'
  ]
}

/** By scope, and without a key where guests may: one requirement of the list must be met. */
export function securityOf(
  { config: { access } }: DescribedRoute,
  guestOrders: boolean
): readonly Readonly<Record<string, readonly string[]>>[] {
  if (!access) return [{}, { bearer: [] }, { basic: [] }]
  const keys = access.anyOf.flatMap((scope) => [{ bearer: [scope] }, { basic: [scope] }])
  return access.guests && guestOrders ? [{}, ...keys] : keys
}
