import type { FastifyRequest } from 'fastify'

/** Whether the Content-Type is that of an HTML form. */
export function isForm(request: Pick<FastifyRequest, 'headers'>): boolean {
  return /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')
}
