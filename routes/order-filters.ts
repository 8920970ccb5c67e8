import type { FastifyReply, FastifyRequest } from 'fastify'
import { pageUri } from '../http/paging.ts'

const day = /^\d{4}-\d{2}-\d{2}$/

/**
 * Redirects the filter form of the orders page to a URI without blank fields and with full times. Other clients get 400 for a
 * blank parameter, because ignoring it would list more orders than they asked for.
 */
export async function tidyFilters(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (!request.isPage) return undefined
  const [path = '', search = ''] = request.url.split(/\?(.*)/s)
  const sent = [...new URLSearchParams(search)]
  if (!sent.some(([name, value]) => value.trim() === '' || (name === 'placed-since' && day.test(value)))) return undefined
  const meant = new Map<string, string[]>()
  for (const [name, value] of sent) {
    const text = value.trim()
    if (text !== '') meant.set(name, [...(meant.get(name) ?? []), name === 'placed-since' && day.test(text) ? `${text}T00:00:00Z` : text])
  }
  return reply.redirect(pageUri(path, Object.fromEntries(meant)), 303)
}
