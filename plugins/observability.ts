import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Registry } from 'prom-client'
import { makeServiceMetrics, type OrderOutcome, processRegistry } from '../background/service-metrics.ts'
import type { Store } from '../domain/store.ts'
import { parserRefusal } from '../http/client-errors.ts'
import { addCheck } from '../http/hooks.ts'
import type { ProblemCode } from '../http/problem-codes.ts'
import { problemTypes } from '../http/problem-types.ts'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
  }
  interface FastifyRequest {
    /** The outcome of the order that the request has placed or found. Undefined while there is none, and for a refused order. */
    orderOutcome: OrderOutcome | undefined
    /** Whether the document of the request turned out to place no order: it changes or cancels one, or is a test. */
    placesNoOrder: boolean
  }
  interface FastifyContextConfig {
    /** Whether a request to the route is an attempt to place an order. */
    placesOrder?: (request: FastifyRequest) => boolean
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

/** The outcome of a request's attempt to place an order. Undefined when it made none, such as when a form only adds lines. */
function outcomeOf(request: FastifyRequest, problem: ProblemCode | undefined): OrderOutcome | undefined {
  const { orderOutcome, placesNoOrder, routeOptions } = request
  if (orderOutcome || !problem) return orderOutcome
  const isAttempt = !placesNoOrder && (routeOptions.config.placesOrder?.(request) ?? false)
  if (!isAttempt) return undefined
  return problemTypes[problem].status < 500 ? 'refused' : 'failed'
}

/**
 * The method of a request, or `other` if its path does not have it: each method of HTTP with each path would make thousands of
 * label values, and each has 16 lines.
 */
function methodLabel({ is404, method }: FastifyRequest): string {
  return is404 ? 'other' : method
}

/** Measures every request. The route label is the pattern, because URLs would create an unlimited number of labels. */
export default fp(
  async function observability(app: FastifyInstance, { store, release }: { store: Store; release: string }) {
    const { registry, durations, inFlight, orders, problems } = makeServiceMetrics({ store, release })
    processRegistry()
    app.decorateRequest('orderOutcome', undefined)
    app.decorateRequest('placesNoOrder', false)

    function measure(request: FastifyRequest, status: string, reply: FastifyReply): void {
      durations.observe({ method: methodLabel(request), route: request.routePattern ?? 'unknown', status }, reply.elapsedTime / 1000)
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
      const problem = request.problemCode
      if (problem) problems.inc({ code: problem })
      const outcome = outcomeOf(request, problem)
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
