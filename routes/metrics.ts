import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Metrics } from '../plugins/observability.ts'

const describes = {
  id: 'getMetrics',
  summary: 'What the service measures of itself',
  answers: { 200: "Prometheus's text format." },
  sends: ['text/plain'],
  outside: true
} as const

/** For the operator's Prometheus, outside the base path, never cached. */
export default fp(
  async function metrics(app: FastifyInstance, { metrics: { contentType, read } }: { metrics: Metrics }) {
    app.get('/metrics', { logLevel: 'warn', config: { unlimited: true, describes } }, async (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .type(contentType)
        .send(await read())
    )
  },
  { name: 'metrics', fastify: '5.x' }
)
