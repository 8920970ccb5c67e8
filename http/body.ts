import type { IncomingMessage } from 'node:http'

type Request = Pick<IncomingMessage, 'headers'>

/** The bytes of a request's body, as its head says (RFC 9112 section 6.3). Undefined for a chunked body, whose head does not say it. */
export function bodyLength({ headers }: Request): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length']) || 0 : undefined
}

/** Whether a request has a body that is not empty. A chunked body counts as one. */
export function hasBody(request: Request): boolean {
  return bodyLength(request) !== 0
}
