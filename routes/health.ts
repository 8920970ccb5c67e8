import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { reach } from '../background/readiness.ts'
import type { Store } from '../domain/store.ts'
import { retryAfter } from '../http/problem.ts'

export interface Health {
  readonly store: Store
  /** Whether the service was told to stop. */
  readonly isStopping: () => boolean
}

const own = { sends: ['application/json'], outside: true } as const
const live = { id: 'getLiveness', summary: 'Whether the process answers', answers: { 200: 'It does.' }, ...own } as const
const ready = {
  id: 'getReadiness',
  summary: 'Whether orders can be taken',
  answers: { 200: 'They can.', 503: 'Not now: the database does not answer or takes no writes, or the service stops.' },
  ...own
} as const

/** The operator's checks, outside the base path and never cached. The process is live while it answers, and ready while it can take orders. */
export default fp(
  async function health(app: FastifyInstance, { store, isStopping }: Health) {
    const policy = { 'cache-control': 'no-store' }
    const quiet = { logLevel: 'warn', config: { unlimited: true, anonymous: true } } as const

    app.get('/health/live', { ...quiet, config: { ...quiet.config, describes: live } }, async (_request, reply) =>
      reply.headers(policy).send({ status: 'live' })
    )

    app.get('/health/ready', { ...quiet, config: { ...quiet.config, describes: ready } }, async (_request, reply) => {
      reply.headers(policy)
      if (isStopping()) return reply.code(503).headers(retryAfter).send({ status: 'stopping' })
      try {
        await reach(store)
        return reply.send({ status: 'ready' })
      } catch (error) {
        app.log.warn({ err: error }, 'the readiness check failed: the database does not answer, or takes no writes')
        return reply.code(503).headers(retryAfter).send({ status: 'database out of reach' })
      }
    })
  },
  { name: 'health', fastify: '5.x' }
)
