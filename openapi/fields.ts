import type { Parameter, Reference } from '../representations/api-description.ts'

const text = { type: 'string' } as const
const httpDate = { type: 'string', examples: ['Fri, 20 Nov 2026 15:00:00 GMT'] } as const

/** A request header field. */
function field(name: string, description: string, schema: Readonly<Record<string, unknown>> = text): Parameter {
  return { name, in: 'header', required: false, description, schema }
}

export const requestFields = {
  IfMatch: field(
    'If-Match',
    'Entity tags of which the current one must be one, or `*` (RFC 9110 section 13.1.1). A PUT that replaces needs it.',
    {
      type: 'string',
      examples: ['"1.lx2k-3fa91c-xml"']
    }
  ),
  IfNoneMatch: field('If-None-Match', 'GET: the tags of what you have, for a 304. PUT: `*`, to create and never replace.'),
  IfModifiedSince: field('If-Modified-Since', 'GET: the date of what you have, for a 304; ignored beside If-None-Match.', httpDate),
  IfUnmodifiedSince: field('If-Unmodified-Since', 'The date since when nothing may have changed; ignored beside If-Match.', httpDate),
  IdempotencyKey: field(
    'Idempotency-Key',
    'Makes repeating the request safe: the same key with the same bytes is answered as the first was. Quoted or bare. Without an API key it must have 16 characters or more that nobody can guess: who knows it and the document is answered with the order.',
    {
      type: 'string',
      minLength: 1,
      maxLength: 257,
      examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"']
    }
  ),
  Prefer: field('Prefer', 'How much the answer holds (RFC 7240).', {
    type: 'string',
    examples: ['return=minimal', 'return=representation']
  })
} as const

export type RequestField = keyof typeof requestFields

const responseFieldTexts = {
  ETag: 'Names one representation of one version; strong, unless it starts with `W/`.',
  'Last-Modified': 'When the resource last changed.',
  'Cache-Control': 'How the answer may be kept.',
  Vary: 'The request header fields that the answer depends on.',
  Link: 'The other media types (alternate) and the schema (describedby), as RFC 8288 writes them.',
  Location: 'The URI of what was made, or of what stands there.',
  'Content-Location': 'The URI of what the body represents.',
  'X-Request-Id': 'Names this request in the log.',
  'Idempotent-Replayed': '`true`: this was done before, under the same Idempotency-Key.',
  'Preference-Applied': 'The preference that was followed.',
  'Retry-After': 'Seconds after which to try again.',
  RateLimit: 'What is left of the limit (`r`, in requests), and for how long (`t`, in seconds).',
  'RateLimit-Policy':
    'The limit: `q` requests in `w` seconds. A body counts as one more for each `tradepost-body-bytes` begun after the first, a document as one more for every `tradepost-work-ms` milliseconds that it takes to read or write.',
  'WWW-Authenticate': 'How to show a key.',
  Allow: 'The methods that there are.',
  'Accept-Post': 'The media types that are read.'
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
