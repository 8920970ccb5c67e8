/** Look-ups in the outbox, in a table whose statistics tempt the planner to read all of it. */

import t, { type Test } from 'tap'
import { type Audience, type EventType, eventTypes, everyone } from '../../domain/event.ts'
import { makeEvents } from '../../stores/postgres/events.ts'
import { makeWebhookClaims } from '../../stores/postgres/webhook-claims.ts'
import { execute, postgresFor } from './embedded.ts'
import { blocksRead } from './plan-steps.ts'
import { RememberingDatabase } from './remembering-database.ts'
import { openShopOn } from './shop-on-postgres.ts'
import { makeWebhook } from './webhook-fixtures.ts'

const server = await postgresFor(t)

/** The most pages of one look-up: the levels of an index, the row, and whether it is visible. */
const blocksOfLookup = 6

/** Types that come before and after others in the index, one whose events are far from each other, and some without events. */
const fill = `INSERT INTO event (position, id, type, at, subject, version, customer, weight)
  SELECT n, gen_random_uuid(),
      CASE WHEN n % 29999 = 1 THEN 'product-created' ELSE (ARRAY['order-placed', 'order-status-changed', 'product-changed', 'stock-set'])[1 + n % 4] END,
      n, '', 1, CASE WHEN n % 4 < 2 THEN (ARRAY['acme', 'other'])[1 + n / 4 % 2] END, 0
    FROM generate_series(1, 30000) n`

/** A shop with many events. No page is marked as visible to all transactions, as after a restore and before the first VACUUM. */
async function open(t: Test) {
  const { url, store, database } = await openShopOn(t, server, RememberingDatabase, 1)
  await execute(url, 'ALTER TABLE event SET (autovacuum_enabled = off)')
  await execute(url, fill)
  await execute(url, 'UPDATE event_head SET last = 30000')
  await execute(url, 'ANALYZE event')
  await execute(url, "UPDATE pg_class SET relallvisible = 0 WHERE relname = 'event'")
  return { url, store, database }
}

const own = (types: readonly EventType[]): Audience => ({ types: [], own: { customer: 'acme', types } })

t.test('the events of an audience are found in one look-up for each type, however many others there are', async (t) => {
  const { database } = await open(t)
  const { eventHeads, lastEvent } = makeEvents(database)
  const audiences: readonly Audience[] = [everyone, own(eventTypes), ...eventTypes.flatMap((type) => [{ types: [type] }, own([type])])]
  for (const audience of audiences) {
    const title = JSON.stringify(audience)
    const lookups = audience.types.length + (audience.own?.types.length ?? 0)
    await lastEvent(audience)
    const newest = blocksRead(await database.explainLast())
    t.ok(newest <= blocksOfLookup * (lookups + 1), `${newest} blocks for the newest event: ${title}`)
    for (const limit of [1, 100]) {
      const { length } = await eventHeads({ audience, limit })
      const blocks = blocksRead(await database.explainLast())
      t.ok(blocks <= blocksOfLookup * (lookups + length), `${blocks} blocks for ${length} of ${limit} events: ${title}`)
    }
  }
})

t.test('webhooks are claimed, and counted, with one look-up for each type that they hear', async (t) => {
  const { url, store, database } = await open(t)
  const [ofCustomer, ofShop] = [
    ['order-shipped', 'product-deleted'],
    ['order-changed', 'order-shipped', 'product-deleted', 'webhook-disabled']
  ] as const
  for (let i = 0; i < 20; i++) {
    await makeWebhook(store, { customer: 'acme', scopes: ['order'], types: ofCustomer })
    await makeWebhook(store, { types: ofShop })
  }
  await execute(url, 'UPDATE webhook SET position = 0, next_attempt_at = 0')
  await execute(url, 'ANALYZE webhook')
  const { claimWebhooks, webhookBacklog } = makeWebhookClaims(database)
  const lookups = 20 * (ofCustomer.length + ofShop.length)
  for (const [title, work] of [
    ['to claim', () => claimWebhooks('replica', 10)],
    ['to count', webhookBacklog]
  ] as const) {
    await work()
    const blocks = blocksRead(await database.explainLast())
    t.ok(blocks <= blocksOfLookup * lookups, `${blocks} blocks ${title}, with ${lookups} look-ups`)
  }
  const type: EventType = 'product-created'
  await makeWebhook(store, { customer: 'WMS', types: [type] })
  await execute(url, 'UPDATE webhook SET position = 0, next_attempt_at = 0')
  t.match(await claimWebhooks('replica', 10), [{ next: { type, position: 1 } }])
  const blocks = blocksRead(await database.explainLast())
  t.ok(blocks <= 10 * blocksOfLookup, `${blocks} blocks to read what was claimed`)
})
