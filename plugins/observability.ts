import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Registry } from 'prom-client'
import { makeServiceMetrics, processRegistry } from '../background/service-metrics.ts'
import { DomainError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { parserRefusal } from '../http/client-errors.ts'
import { addCheck } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import { codesByStatus, type ProblemCode } from '../http/problem-codes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
  }
}

export interface Metrics {
  readonly contentType: string
  /** The registry of the plugins' own metrics. */
  readonly registry: Registry
  /** All metrics, in Prometheus's text format. */
  read(): Promise<string>
  /** Measures a request that the application does not see. @param milliseconds from its head to its response */
  observe(request: { readonly method: string; readonly route: string; readonly status: string }, milliseconds: number): void
}

/** The outcome of an attempt to place an order. Undefined when none was attempted, such as when a form only adds lines. */
function orderOutcome(reply: FastifyReply): 'placed' | 'replayed' | 'repeated' | 'refused' | 'failed' | undefined {
  const { statusCode } = reply
  if (statusCode >= 400) return statusCode < 500 ? 'refused' : 'failed'
  if (reply.getHeader('idempotent-replayed') !== undefined) return 'replayed'
  // A page gets 303 for a new and for a repeated order. A repeated order is 204 when the client prefers no body.
  if (statusCode === 200 || statusCode === 204) return reply.getHeader('location') === undefined ? undefined : 'repeated'
  return 'placed'
}

/** Measures every request. The route label is the pattern, because URLs would create an unlimited number of labels. */
export default fp(
  async function observability(app: FastifyInstance, { store, release }: { store: Store; release: string }) {
    const { registry, durations, inFlight, orders, problems } = makeServiceMetrics({ store, release })
    processRegistry()

    const codes = new WeakMap<FastifyRequest, ProblemCode>()
    app.addHook('onError', async (request, _reply, error: Error) => {
      if (error instanceof DomainError || error instanceof Problem) codes.set(request, error.code)
    })

    function measure({ method, routePattern }: FastifyRequest, status: string, reply: FastifyReply): void {
      durations.observe({ method, route: routePattern ?? 'unknown', status }, reply.elapsedTime / 1000)
    }

    addCheck(app, 'onRequest', (request, reply) => {
      inFlight.inc()
      reply.raw.on('close', () => {
        inFlight.dec()
        if (!request.isAnswered) measure(request, String(parserRefusal(request.raw)?.status ?? 'aborted'), reply)
      })
    })

    app.addHook('onResponse', (request, reply, done) => {
      measure(request, String(reply.statusCode), reply)
      const problem = reply.statusCode >= 400 ? (codes.get(request) ?? codesByStatus[reply.statusCode]) : undefined
      if (problem) problems.inc({ code: problem })
      const outcome = request.routeOptions.config.describes?.id === 'placeOrder' ? orderOutcome(reply) : undefined
      if (outcome) orders.inc({ outcome })
      done()
    })

    app.decorate('metrics', {
      contentType: registry.contentType,
      registry,
      observe: (request, milliseconds) => durations.observe(request, milliseconds / 1000),
      read: async () => `${await registry.metrics()}\n${await processRegistry().metrics()}`
    })
  },
  { name: 'observability', fastify: '5.x', dependencies: ['logging'] }
)
