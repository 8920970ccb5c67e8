import type { FastifyRequest } from 'fastify'

/** Whether this is what a page's form sends, as far as the header fields say. */
export function isForm(request: Pick<FastifyRequest, 'headers'>): boolean {
  return /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')
}
