import type { FastifyContextConfig, RouteOptions } from 'fastify'
import type { ProblemCode } from '../http/problem-codes.ts'
import { isDocumentSchema } from '../schemas/document.ts'
import type { Description } from './description.ts'
import type { RequestField, ResponseField } from './fields.ts'

/** The properties of a route that its description depends on. */
export interface DescribedRoute {
  readonly method: string
  /** The path without the base path, in Fastify's notation. */
  readonly path: string
  readonly schema: { readonly body?: unknown; readonly querystring?: unknown; readonly params?: unknown }
  readonly config: FastifyContextConfig
  readonly describes: Description
}

/** The operations of a route, one for each method; none if the route is not described. @param base the path of BASE_URL */
export function describedRoutes({ url, method, schema = {}, config }: RouteOptions, base: string): readonly DescribedRoute[] {
  const describes = config?.describes
  // Under a base path, the root has two routes, with and without slash. It is described once.
  if (!describes || url === base) return []
  const path = describes.outside ? url : url.slice(base.length)
  const { body, querystring, params } = schema
  return [method]
    .flat()
    .filter((one) => one !== 'HEAD')
    .map((one) => ({ method: one, path, schema: { body, querystring, params }, config, describes }))
}

export function isGet({ method }: DescribedRoute): boolean {
  return method === 'GET'
}

/** Whether a successful response has content. */
export function hasContent(status: number): boolean {
  return status !== 204 && status !== 303
}

/** Whether the route takes HTML forms and no documents. */
export function takesFormsOnly({ config, schema }: DescribedRoute): boolean {
  return config.form !== undefined && schema.body === undefined
}

/** Whether the route performs the PUT or DELETE of an HTML form. Browsers' forms do not support these methods. */
export function isPageForm(route: DescribedRoute): boolean {
  return takesFormsOnly(route) && route.describes.reads === undefined
}

/** Whether the route honours `Prefer: return`: it responds to a write with the representation, unless the client prefers none. */
export function honoursPrefer(route: DescribedRoute): boolean {
  const { config, describes } = route
  if (isGet(route) || config.represents === undefined || isPageForm(route) || describes.shownOnce) return false
  return 200 in describes.answers || 201 in describes.answers
}

/** Whether the route supports conditional requests, and so sends entity tags. */
export function hasValidators({ config, describes }: DescribedRoute): boolean {
  return config.represents ? config.represents.validators !== undefined : config.caching === 'catalogue' || describes.tagged === true
}

/** Whether the validators of the route have a date. */
function isDated({ config }: DescribedRoute): boolean {
  return config.represents?.isDated === true
}

/** The problems that follow from a route's declarations. */
export function problemsOf(route: DescribedRoute): ReadonlySet<ProblemCode> {
  const { config, schema, describes } = route
  const codes = new Set<ProblemCode>([
    'malformed-request',
    'uri-too-long',
    'internal-error',
    'overloaded',
    'store-overloaded',
    'store-unavailable'
  ])
  const add = (condition: unknown, ...more: ProblemCode[]) => {
    if (condition) for (const code of more) codes.add(code)
  }
  add(!config.anonymous, 'unauthenticated')
  add(!config.unlimited, 'too-many-requests')
  // Forms from other origins are refused.
  add(config.access || takesFormsOnly(route), 'forbidden')
  add(schema.params, 'not-found')
  add(config.represents, 'not-acceptable')
  const readsDocument = isDocumentSchema(schema.body) || isPageForm(route)
  add(readsDocument || takesFormsOnly(route), 'malformed-document', 'body-too-large', 'unsupported-media-type')
  add(readsDocument, 'forbidden-xml', 'invalid-document')
  // A body that the method does not take is refused.
  add(route.method === 'DELETE', 'unsupported-media-type')
  // Preconditions apply to every represented resource, even to one without entity tags.
  add(hasValidators(route) || config.represents, 'precondition-failed')
  add(route.method === 'PUT' || (isPageForm(route) && hasValidators(route)), 'precondition-required')
  add(describes.idempotent, 'idempotency-in-flight', 'idempotency-key-reused')
  add(true, ...(describes.problems ?? []))
  return codes
}

export function requestFieldsOf(route: DescribedRoute): readonly RequestField[] {
  const { method, config, describes } = route
  const conditional = hasValidators(route) && (method !== 'POST' || config.checksConditions === true)
  const dated = conditional && isDated(route)
  return [
    ...(conditional ? (['IfMatch', 'IfNoneMatch'] as const) : []),
    ...(dated ? (['IfUnmodifiedSince'] as const) : []),
    ...(dated && isGet(route) ? (['IfModifiedSince'] as const) : []),
    ...(describes.idempotent ? (['IdempotencyKey'] as const) : []),
    ...(honoursPrefer(route) || describes.waits ? (['Prefer'] as const) : [])
  ]
}

function preferFieldsOf(route: DescribedRoute, status: number): readonly ResponseField[] {
  const { method, config, describes } = route
  const isRepresented = config.represents !== undefined && hasContent(status)
  // The result of a POST that makes no resource has no URI.
  const isOfResource = method !== 'POST' || 201 in describes.answers
  return [
    ...((honoursPrefer(route) && status !== 303) || describes.waits ? (['Preference-Applied'] as const) : []),
    ...(honoursPrefer(route) && isRepresented && isOfResource ? (['Content-Location'] as const) : [])
  ]
}

/** Whether a successful response has an entity tag. A PUT's 204 has none (RFC 9110 section 9.3.4). */
function sendsEntityTag(route: DescribedRoute, status: number): boolean {
  if (!hasValidators(route) || status === 303 || route.describes.shownOnce) return false
  return status !== 204 || (honoursPrefer(route) && route.method !== 'PUT')
}

export function responseFieldsOf(route: DescribedRoute, status: number): readonly ResponseField[] {
  const { config, describes } = route
  const represented = config.represents !== undefined && hasContent(status)
  // A 304 that is sent before the value is read has no links that depend on the value.
  const hasLinks = represented && config.represents?.schema !== undefined && (status !== 304 || config.represents.links === undefined)
  // A repeated creation responds with the Location of the existing resource.
  const repeats = route.method === 'POST' && 201 in describes.answers
  return [
    ...(status === 201 || status === 303 || repeats ? (['Location'] as const) : []),
    ...(sendsEntityTag(route, status) ? (['ETag'] as const) : []),
    ...(sendsEntityTag(route, status) && isDated(route) ? (['Last-Modified'] as const) : []),
    ...(config.represents || config.caching ? (['Cache-Control'] as const) : []),
    ...((config.represents?.variants.length ?? 0) > 1 ? (['Vary'] as const) : []),
    ...(hasLinks ? (['Link'] as const) : []),
    ...(describes.idempotent ? (['Idempotent-Replayed'] as const) : []),
    ...preferFieldsOf(route, status),
    ...(config.unlimited ? [] : (['RateLimit', 'RateLimit-Policy'] as const)),
    'X-Request-Id'
  ]
}

/** The security requirements, of which one must be met: a key with a scope, or no key where guests are allowed. */
export function securityOf(
  { config: { access, anonymous } }: DescribedRoute,
  guestOrders: boolean
): readonly Readonly<Record<string, readonly string[]>>[] {
  if (anonymous) return [{}]
  if (!access) return [{}, { bearer: [] }, { basic: [] }]
  const keys = access.anyOf.flatMap((scope) => [{ bearer: [scope] }, { basic: [scope] }])
  return access.guests && guestOrders ? [{}, ...keys] : keys
}
