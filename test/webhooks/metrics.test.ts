import { Registry } from 'prom-client'
import t from 'tap'
import type { WebhookBacklog } from '../../domain/webhook.ts'
import { measureDeliveries } from '../../webhooks/metrics.ts'
import { addWebhook, createProducts, logged, open } from './delivering.ts'
import { startReceiver } from './receiver.ts'

t.test('deliveries are counted by outcome, and what waits is measured', async (t) => {
  const shop = await open(t)
  const [well, ill] = [await startReceiver(t), await startReceiver(t, (response) => response.writeHead(500).end())]
  const [first, second] = [await addWebhook(shop, well.url), await addWebhook(shop, ill.url)]
  await createProducts(shop, 'A', 'B')
  await Promise.all([logged(shop, first, 2), logged(shop, second, 1)])
  const { body } = await shop.app.inject('/metrics')
  t.match(body, /\ntradepost_webhook_deliveries_total\{outcome="delivered"\} 2\n/)
  t.match(body, /\ntradepost_webhook_deliveries_total\{outcome="failed"\} [1-9]/)
  for (const outcome of ['disabled', 'postponed', 'lost'])
    t.match(body, new RegExp(`\ntradepost_webhook_deliveries_total\\{outcome="${outcome}"\\} 0\n`))
  t.match(body, /\ntradepost_webhooks_serving [01]\n/)
  t.match(body, /\ntradepost_webhooks_waiting 1\n/, 'the one that failed')
  t.match(body, /\ntradepost_webhook_oldest_event_seconds \d/)
  t.match(body, /\ntradepost_webhook_overdue_seconds \d/)
  t.notMatch(body, /127\.0\.0\.1|ERP/, 'no customer and no URL')
})

async function measure(webhookBacklog: () => Promise<WebhookBacklog>) {
  const registry = new Registry()
  let reads = 0
  const store = {
    webhookBacklog() {
      reads += 1
      return webhookBacklog()
    }
  }
  measureDeliveries({ registry, store, serving: () => 3 })
  const texts = [await registry.metrics(), await registry.metrics()]
  return { text: texts.join('\n'), reads }
}

t.test('the ages are seconds, and metrics that are read often do not read the database each time', async (t) => {
  const { text, reads } = await measure(async () => ({ waiting: 2, oldestAt: Date.now() - 90_000, dueSince: Date.now() + 3_600_000 }))
  t.match(text, /tradepost_webhooks_serving 3\n/)
  t.match(text, /tradepost_webhooks_waiting 2\n/)
  t.ok(Number(/^tradepost_webhook_oldest_event_seconds (\S+)/m.exec(text)?.[1]) >= 90)
  t.match(text, /tradepost_webhook_overdue_seconds 0\n/, 'never less than nothing')
  t.equal(reads, 1)
  const none = await measure(async () => ({ waiting: 0 }))
  t.match(none.text, /tradepost_webhook_oldest_event_seconds 0\n/)
})

t.test('while the database does not answer, what waits is not known', async (t) => {
  const { text } = await measure(() => Promise.reject(new Error('gone')))
  t.notMatch(text, /^tradepost_webhooks_waiting/m)
  t.match(text, /tradepost_webhooks_serving 3\n/)
})
