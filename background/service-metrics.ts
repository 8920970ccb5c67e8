import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Store } from '../domain/store.ts'
import { reach } from './readiness.ts'

/** The outcomes of an attempt to place an order. */
const orderOutcomes = ['placed', 'replayed', 'repeated', 'refused', 'failed'] as const
export type OrderOutcome = (typeof orderOutcomes)[number]

let defaultMetrics: Registry | undefined

/** Memory, CPU, garbage collection and event-loop delay of the process. All services in it share this registry. */
export function processRegistry(): Registry {
  if (!defaultMetrics) {
    defaultMetrics = new Registry()
    collectDefaultMetrics({ register: defaultMetrics })
  }
  return defaultMetrics
}

/** The metrics of a service's requests, of its release and of its store. */
export function makeServiceMetrics({ store, release }: { readonly store: Pick<Store, 'ping'>; readonly release: string }) {
  const registry = new Registry()
  const registers = [registry]
  const requests = {
    durations: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request line to the end of the answer; status aborted: the client went away',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers
    }),
    inFlight: new Gauge({ name: 'http_requests_in_flight', help: 'Requests that are being answered', registers }),
    orders: new Counter({
      name: 'tradepost_orders_total',
      help: 'Attempts to place an order, by outcome',
      labelNames: ['outcome'],
      registers
    }),
    problems: new Counter({ name: 'tradepost_problems_total', help: 'Problems answered, by type', labelNames: ['code'], registers })
  }
  // Each outcome begins at 0: Prometheus does not count a sample that begins at 1 as an increase, and so would miss the first failure.
  for (const outcome of orderOutcomes) requests.orders.inc({ outcome }, 0)
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
  return { registry, ...requests }
}
