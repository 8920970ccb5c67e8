/**
 * A bare Fastify that answers with recorded bytes: the least that a service on Fastify can cost. `bench:limit` starts it.
 *
 *     PORT=4000 node bare.js RECORDED.json
 */

import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

/** One response to replay. */
export interface Recorded {
  readonly method: 'GET' | 'POST'
  /** The path as a route: it can have parameters. A query is not part of it. */
  readonly route: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** In base64. */
  readonly body: string
}

const [, , file = ''] = process.argv
const app = Fastify()
app.addContentTypeParser('application/xml', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
for (const { method, route, status, headers, body } of JSON.parse(readFileSync(file, 'utf8')) as Recorded[]) {
  const bytes = Buffer.from(body, 'base64')
  app.route({
    method,
    url: route,
    handler: (_request, reply) =>
      reply
        .code(status)
        .headers(headers)
        .send(status === 304 ? undefined : bytes)
  })
}
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) })
