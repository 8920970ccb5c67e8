import type { FastifyRequest } from 'fastify'
import { hasBody } from './body.ts'
import { isForm } from './form-post.ts'
import { charsetOf, charsets, curlAdvice, mediaTypes, unsupported } from './media-types.ts'
import { isRead } from './methods.ts'
import { Problem } from './problem.ts'

/**
 * Checks the headers that describe the content, before the content is read (RFC 9110 sections 8.3 and 8.4).
 * @throws Problem `unsupported-media-type`
 */
export function checkContent(request: FastifyRequest): void {
  const { headers, method } = request
  const { schema } = request.routeOptions
  if (!hasBody(request)) {
    // Some clients send a Content-Type without content. It must not select a body parser.
    if (!schema?.body) delete headers['content-type']
    return
  }
  if (isRead(method)) return
  const accepts = mediaTypes(method, request.routeOptions)
  if (accepts.length === 0) throw new Problem('unsupported-media-type', `${method} requests to this URI must not have a body.`)
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    const detail = `The content coding ${JSON.stringify(coding)} is not supported. Send the body without a content coding.`
    throw unsupported(request, detail, accepts, { headers: { 'accept-encoding': 'identity' } })
  }
  const type = headers['content-type']
  const advice = `Send ${accepts.join(' or ')}.`
  if (type === undefined) throw unsupported(request, `The request has a body but no Content-Type header. ${advice}`, accepts)
  if (!accepts.includes(request.mediaType ?? '')) {
    const hint = isForm(request) ? ` ${curlAdvice('xml', 'json')}` : ''
    throw unsupported(request, `${JSON.stringify(type)} is not supported here. ${advice}${hint}`, accepts)
  }
  const charset = charsetOf(type)
  if (charset !== undefined && !charsets(request.routeOptions).includes(charset.toLowerCase())) {
    throw unsupported(request, `The charset ${JSON.stringify(charset)} is not supported. Send UTF-8.`, accepts)
  }
}

/**
 * Refuses a partial PUT. Content-Range says that the content is only a part; storing it would lose the rest (RFC 9110 section 14.5).
 * @throws Problem `malformed-request`
 */
export function refusePartialPut({ method, headers }: FastifyRequest): void {
  if (method !== 'PUT' || headers['content-range'] === undefined) return
  throw new Problem(
    'malformed-request',
    'A PUT with Content-Range would replace only a part, which is not supported. Send the whole document without Content-Range.'
  )
}
