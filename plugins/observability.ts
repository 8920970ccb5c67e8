import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { DomainError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { Problem } from '../http/problem.ts'
import { codesByStatus, type ProblemCode } from '../http/problem-codes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
  }
  interface FastifyRequest {
    isMeasured: boolean
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

/** Milliseconds. */
const pingTimeout = 2_000

/** Resolves when the database answers. @throws Error when it does not answer in time, or the database's own error */
export async function reach(store: Store): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not answer within ${pingTimeout} ms`)), pingTimeout)
  })
  try {
    await Promise.race([store.ping(), late])
  } finally {
    clearTimeout(timer)
  }
}

let defaultMetrics: Registry | undefined

/** Memory, CPU, garbage collection and event-loop delay of the process. All services in it share this registry. */
function processRegistry(): Registry {
  if (!defaultMetrics) {
    defaultMetrics = new Registry()
    collectDefaultMetrics({ register: defaultMetrics })
  }
  return defaultMetrics
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
    const registry = new Registry()
    const registers = [registry]
    processRegistry()

    const durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request line to the end of the answer; status aborted: the client went away',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers
    })
    const inFlight = new Gauge({ name: 'http_requests_in_flight', help: 'Requests that are being answered', registers })
    const orders = new Counter({
      name: 'tradepost_orders_total',
      help: 'Attempts to place an order, by outcome',
      labelNames: ['outcome'],
      registers
    })
    const problems = new Counter({ name: 'tradepost_problems_total', help: 'Problems answered, by type', labelNames: ['code'], registers })
    new Gauge({ name: 'tradepost_info', help: 'The release that runs', labelNames: ['release'], registers }).set({ release }, 1)
    new Gauge({
      name: 'tradepost_store_up',
      help: '1 while the database answers',
      registers,
      async collect() {
        this.set(
          await reach(store).then(
            () => 1,
            () => 0
          )
        )
      }
    })

    const codes = new WeakMap<FastifyRequest, ProblemCode>()
    app.addHook('onError', async (request, _reply, error: Error) => {
      if (error instanceof DomainError || error instanceof Problem) codes.set(request, error.code)
    })

    app.decorateRequest('isMeasured', false)

    function measure({ method, routeOptions }: FastifyRequest, status: string, reply: FastifyReply): void {
      durations.observe({ method, route: routeOptions.url ?? 'unknown', status }, reply.elapsedTime / 1000)
    }

    app.addHook('onRequest', (request, reply, done) => {
      inFlight.inc()
      reply.raw.once('close', () => {
        inFlight.dec()
        if (!request.isMeasured) measure(request, 'aborted', reply)
      })
      done()
    })

    app.addHook('onResponse', (request, reply, done) => {
      request.isMeasured = true
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
  { name: 'observability', fastify: '5.x' }
)
