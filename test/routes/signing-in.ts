import type { FastifyInstance } from 'fastify'
import { form } from '../build.ts'

export const html = { accept: 'text/html' } as const
/** The header fields that a browser sends with a form of this site, over plain HTTP. */
export const fromHere = { origin: 'http://localhost:80', host: 'localhost:80' } as const

export async function signIn(app: FastifyInstance, { authorization }: { authorization: string }, next = '', headers = {}) {
  const payload = new URLSearchParams({ key: authorization.replace('Bearer ', ''), next }).toString()
  return app.inject({ method: 'POST', url: '/session', headers: { ...html, ...form, ...fromHere, ...headers }, payload })
}

export function cookieOf(answer: { headers: Record<string, unknown> }): string {
  return String([answer.headers['set-cookie']].flat()[0]).split(';')[0] ?? ''
}
