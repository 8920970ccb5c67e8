import type { FastifyContextConfig, FastifyRequest, FastifySchema } from 'fastify'
import { isDocumentSchema } from '../schemas/document.ts'
import { formMediaType } from '../schemas/form.ts'
import type { DocumentNotation } from './notation.ts'
import { Problem } from './problem.ts'

interface RouteDeclaration {
  readonly schema?: FastifySchema | undefined
  readonly config?: FastifyContextConfig | undefined
}

/** Media types that senders of UBL use. Neither is registered. */
export const ublMediaTypes = ['application/vnd.oasis.ubl+xml', 'application/ubl+xml'] as const

const plainXmlMediaTypes = ['application/xml', 'text/xml'] as const

/** The media types of XML. Those of UBL are for routes that take or serve buyers' own documents. */
export const xmlMediaTypes = [...plainXmlMediaTypes, ...ublMediaTypes] as const

/** The accepted charsets: UTF-8, and US-ASCII on routes that also take buyers' own documents. */
export function charsets({ schema }: RouteDeclaration): readonly string[] {
  return isDocumentSchema(schema?.body) && schema.body.takesOthers ? ['utf-8', 'us-ascii'] : ['utf-8']
}

/** The charset of a Content-Type, as it was sent. */
export function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1]
}

/** The media types that a route accepts: those of its document schema, or of an HTML form that the route validates itself. */
export function mediaTypes(method: string, { schema, config }: RouteDeclaration): readonly string[] {
  const body = schema?.body
  if (isDocumentSchema(body)) {
    const others = body.takesOthers ? ublMediaTypes : []
    return [...plainXmlMediaTypes, 'application/json', ...(body.forms ? [formMediaType] : []), ...others]
  }
  return method === 'POST' && config?.form ? [formMediaType] : []
}

interface Unsupported {
  readonly notation?: DocumentNotation
  readonly headers?: Readonly<Record<string, string>>
}

export function unsupported(
  { method }: FastifyRequest,
  detail: string,
  accepts: readonly string[],
  { notation, headers: more }: Unsupported = {}
): Problem {
  // Accept-Post is for POST only (W3C LDP 7.1.2). Accept in a response is for any method (RFC 9110 section 12.5.1).
  const list = accepts.join(', ')
  const headers = { ...more, accept: list, ...(method === 'POST' ? { 'accept-post': list } : {}) }
  return new Problem('unsupported-media-type', detail, { headers, available: accepts, ...(notation ? { notation } : {}) })
}

/** Advice for curl users: `curl -d` sends a form's Content-Type by default. */
export function curlAdvice(...notations: readonly DocumentNotation[]): string {
  return `With curl, add ${notations.map((one) => `-H 'content-type: application/${one}'`).join(' or ')}.`
}

/** The first character of XML or JSON, after a byte order mark and white space. In a form these characters are escaped. */
const documentStart = /^[\ufeff\s]*([<{[])/

/**
 * Refuses XML or JSON with a form's Content-Type, which `curl -d` and Java's HttpURLConnection send by default. Validated
 * as a form, it would only get an error about missing fields.
 * @throws Problem `unsupported-media-type`
 */
export function refuseDocument(request: FastifyRequest, form: string): void {
  const start = documentStart.exec(form)?.[1]
  if (start === undefined) return
  const notation = start === '<' ? 'xml' : 'json'
  const mediaType = `application/${notation}`
  const accepts = mediaTypes(request.method, request.routeOptions)
  const found = `The body looks like ${notation === 'xml' ? 'XML' : 'JSON'}, but its Content-Type is that of an HTML form.`
  const advice = accepts.includes(mediaType)
    ? `Send it with Content-Type: ${mediaType}. ${curlAdvice(notation)}`
    : `This URI accepts HTML forms only: send fields such as name=value.`
  throw unsupported(request, `${found} ${advice}`, accepts, { notation })
}
