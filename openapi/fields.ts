import { longestKey, shortestGuestKey } from '../http/idempotency-key.ts'
import type { Parameter, Reference } from '../representations/api-description.ts'

const text = { type: 'string' } as const
const httpDate = { type: 'string', examples: ['Fri, 20 Nov 2026 15:00:00 GMT'] } as const

/** A request header. */
function field(name: string, description: string, schema: Readonly<Record<string, unknown>> = text): Parameter {
  return { name, in: 'header', required: false, description, schema }
}

export const requestFields = {
  IfMatch: field(
    'If-Match',
    'A list of entity tags that must include the current one, or `*` (RFC 9110 section 13.1.1). A PUT that replaces a resource needs it.',
    {
      type: 'string',
      examples: ['"1.lx2k-3fa91c-xml"']
    }
  ),
  IfNoneMatch: field(
    'If-None-Match',
    'GET: the entity tags that you have cached, for a 304. PUT: `*`, to create a resource but never replace one.'
  ),
  IfModifiedSince: field(
    'If-Modified-Since',
    'GET: the Last-Modified date that you have cached, for a 304. Ignored if there is If-None-Match.',
    httpDate
  ),
  IfUnmodifiedSince: field(
    'If-Unmodified-Since',
    'The resource must not have changed after this date. Ignored if there is If-Match.',
    httpDate
  ),
  IdempotencyKey: field(
    'Idempotency-Key',
    `Makes it safe to repeat the request: the same key with the same body gets the response of the first request for at least 24 hours. With or without quotes. Without an API key it must have at least ${shortestGuestKey} characters that nobody can guess.`,
    {
      type: 'string',
      minLength: 1,
      // With quotes, around characters that each may have a backslash before them.
      maxLength: 2 * longestKey + 2,
      examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"']
    }
  ),
  Prefer: field(
    'Prefer',
    '`return` says whether the response contains the representation. For a new order, `handling=lenient` accepts the order with the lines that the shop can deliver. For events, `wait` is the seconds to wait for one (RFC 7240).',
    {
      type: 'string',
      examples: ['return=minimal', 'return=representation', 'handling=lenient', 'wait=30']
    }
  )
} as const

export type RequestField = keyof typeof requestFields

const responseFieldTexts = {
  ETag: 'Identifies one representation of one version. It is strong, unless it starts with `W/`.',
  'Last-Modified': 'When the resource last changed.',
  'Cache-Control': 'How the response may be cached.',
  Vary: 'The request headers that the response depends on.',
  Link: 'The other media types (alternate), the schema (describedby) and the next page (next), in the format of RFC 8288.',
  Location: 'The URI of the created or existing resource.',
  'Content-Location': 'The URI of the resource that the body represents.',
  'X-Request-Id': 'The id of this request in the log.',
  'Idempotent-Replayed': '`true` if an earlier request with the same Idempotency-Key did this.',
  'Preference-Applied': 'The preferences that were followed.',
  'Retry-After': 'Seconds to wait before you try again.',
  RateLimit: 'The remaining requests (`r`), and the seconds until the limit is reset (`t`).',
  'RateLimit-Policy':
    'The limit: `q` requests in `w` seconds. Large requests count more. Each further `tradepost-body-bytes` of a body, or of a stored order that is read, adds 1. So does each `tradepost-work-ms` of processor time for a document, and each `tradepost-events` events of a write. Placing or changing an order counts at least 1 for each `tradepost-body-bytes` that are stored for it.',
  'WWW-Authenticate': 'The accepted authentication schemes.',
  Allow: 'The methods of the resource.',
  Accept: 'The media types that this method reads here.',
  'Accept-Post': 'The media types that POST accepts.'
} as const

export type ResponseField = keyof typeof responseFieldTexts

const componentName = (name: string) => name.replaceAll('-', '')

export function responseFields(names: readonly ResponseField[]): { readonly headers: Readonly<Record<string, Reference>> } {
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${componentName(name)}` }])) }
}

export const headerComponents: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(responseFieldTexts).map(([name, description]) => [
    componentName(name),
    { description, schema: name === 'Retry-After' ? { type: 'integer', minimum: 0 } : text }
  ])
)
