import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { shareWork } from '../background/shared-work.ts'
import type { Metrics } from '../plugins/observability.ts'

const describes = {
  id: 'getMetrics',
  summary: 'What the service measures of itself',
  answers: { 200: "Prometheus's text format." },
  sends: ['text/plain'],
  outside: true
} as const

/** The metrics for the operator's Prometheus, outside the base path and never cached. */
export default fp(
  async function metrics(app: FastifyInstance, { metrics: { contentType, read } }: { metrics: Metrics }) {
    const readShared = shareWork(async () => Buffer.from(await read()))
    app.get('/metrics', { logLevel: 'warn', config: { unlimited: true, anonymous: true, describes } }, async (request, reply) => {
      const body = await readShared()
      // All requests that waited get the text at once, and sending it takes a while, so each waits for its turn.
      await request.nextTurn()
      return reply.header('cache-control', 'no-store').type(contentType).send(body)
    })
  },
  { name: 'metrics', fastify: '5.x', dependencies: ['scheduling'] }
)
