import type { FastifyRequest } from 'fastify'
import { inCurl, mediaTypes, unsupported } from '../methods.ts'

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
