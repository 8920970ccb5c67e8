import { Counter, Gauge, type Registry } from 'prom-client'
import type { Store } from '../domain/store.ts'
import type { WebhookBacklog } from '../domain/webhook.ts'
import { type DeliveryOutcome, outcomes } from './dispatcher-options.ts'

interface Measured {
  readonly registry: Registry
  readonly store: Pick<Store, 'webhookBacklog'>
  /** How many webhooks are served now. */
  readonly serving: () => number
}

/** Milliseconds for which the backlog is kept, so that metrics may be read often: reading it looks at every webhook. */
const freshness = 5_000

/**
 * Registers the metrics of deliveries to webhooks.
 * @returns a function that counts an outcome
 */
export function measureDeliveries({ registry, store, serving }: Measured): (outcome: DeliveryOutcome) => void {
  const registers = [registry]
  const deliveries = new Counter({
    name: 'tradepost_webhook_deliveries_total',
    help: 'Attempts to deliver an event to a webhook, by outcome; lost: a webhook misses events that were deleted before they were delivered',
    labelNames: ['outcome'],
    registers
  })
  for (const outcome of outcomes) deliveries.inc({ outcome }, 0)
  new Gauge({
    name: 'tradepost_webhooks_serving',
    help: 'Webhooks that this process delivers to now',
    registers,
    collect() {
      this.set(serving())
    }
  })

  let readAt = Number.NEGATIVE_INFINITY
  let backlog: Promise<WebhookBacklog | undefined> = Promise.resolve(undefined)
  function read(): Promise<WebhookBacklog | undefined> {
    if (performance.now() - readAt < freshness) return backlog
    readAt = performance.now()
    backlog = store.webhookBacklog().catch(() => undefined)
    return backlog
  }
  /** A gauge that has no value while the database does not answer. */
  const gauge = (metric: string, help: string, measured: (backlog: WebhookBacklog) => number) =>
    new Gauge({
      name: metric,
      help,
      registers,
      async collect() {
        const found = await read()
        if (found) this.set(measured(found))
        else this.remove()
      }
    })
  const since = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, (Date.now() - at) / 1000))
  gauge('tradepost_webhooks_waiting', 'Active webhooks with an event that has not been delivered', ({ waiting }) => waiting)
  gauge(
    'tradepost_webhook_oldest_event_seconds',
    'Age of the oldest event that has not been delivered to an active webhook',
    ({ oldestAt }) => since(oldestAt)
  )
  gauge('tradepost_webhook_overdue_seconds', 'How long the shop has kept a webhook waiting that it could deliver to', ({ dueSince }) =>
    since(dueSince)
  )
  return (outcome) => deliveries.inc({ outcome })
}
