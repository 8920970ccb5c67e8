import type { FastifyInstance } from 'fastify'
import { form } from '../build.ts'

export const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } as const

export function post(
  app: FastifyInstance,
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = html
) {
  return app.inject({ method: 'POST', url, headers: { ...form, ...headers }, payload: new URLSearchParams(fields).toString() })
}

/** The value of a hidden field of a page. */
export function hidden(body: string, name: string): string | undefined {
  const value = new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1]
  return value?.replaceAll('&quot;', '"')
}

export const line = { 'item.1.product-id': 'ABC-1', 'item.1.quantity': '3' }

/** The URI of the order that a form has placed. */
export function placedUri(answer: { readonly statusCode: number; readonly headers: Readonly<Record<string, unknown>> }): string {
  if (answer.statusCode !== 303) throw new Error(`no order was placed: ${answer.statusCode}`)
  return String(answer.headers['location'])
}
