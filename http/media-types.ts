import type { FastifyContextConfig, FastifyRequest, FastifySchema } from 'fastify'
import { isDocumentSchema } from '../schemas/document.ts'
import { formMediaType } from '../schemas/form.ts'
import type { DocumentNotation } from './notation.ts'
import { Problem } from './problem.ts'

interface Declared {
  readonly schema?: FastifySchema | undefined
  readonly config?: FastifyContextConfig | undefined
}

/** What a route reads: a document, or a page's form, whose fields the route judges itself. */
export function mediaTypes(method: string, { schema, config }: Declared): readonly string[] {
  const body = schema?.body
  if (isDocumentSchema(body)) return ['application/xml', 'text/xml', 'application/json', ...(body.forms ? [formMediaType] : [])]
  return method === 'POST' && (config?.form || config?.describes?.form) ? [formMediaType] : []
}

export function unsupported({ method }: FastifyRequest, detail: string, accepts: readonly string[], notation?: DocumentNotation): Problem {
  // Accept-Post would say that there is POST (W3C LDP 7.1.2); Accept in an answer is for any method (RFC 9110 section 12.5.1).
  const list = accepts.join(', ')
  const headers = { accept: list, ...(method === 'POST' ? { 'accept-post': list } : {}) }
  return new Problem('unsupported-media-type', detail, { headers, available: accepts, ...(notation ? { notation } : {}) })
}

/** What to do about a form's Content-Type, which curl's -d sends unless it is told otherwise. */
export function inCurl(mediaType: string): string {
  return `With curl, add -H 'content-type: ${mediaType}'.`
}

/** How XML and JSON start, behind a byte order mark and white space. A form escapes all three of these characters. */
const opening = /^[\ufeff\s]*([<{[])/

/**
 * Refuses a document that was sent as a form: `curl -d` and Java's HttpURLConnection name a form's media type unless they
 * are told otherwise. Judged as a form, it would only be told which fields it lacks.
 * @throws Problem `unsupported-media-type`
 */
export function refuseDocument(request: FastifyRequest, form: string): void {
  const start = opening.exec(form)?.[1]
  if (start === undefined) return
  const notation = start === '<' ? 'xml' : 'json'
  const mediaType = `application/${notation}`
  const accepts = mediaTypes(request.method, request.routeOptions)
  const found = `The body looks like ${notation === 'xml' ? 'XML' : 'JSON'}, but its Content-Type is that of a form.`
  const advice = accepts.includes(mediaType)
    ? `Send it with Content-Type: ${mediaType}. ${inCurl(mediaType)}`
    : `Only a page's form is posted here: send fields such as name=value.`
  throw unsupported(request, `${found} ${advice}`, accepts, notation)
}
