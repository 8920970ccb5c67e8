import t, { type Test } from 'tap'
import { Connection } from '../../stores/sqlite/connection.ts'
import { makeEventLog } from '../../stores/sqlite/event-log.ts'
import { makeWebhookBacklog, scheduleTime } from '../../stores/sqlite/webhook-backlog.ts'
import { makeWebhookWrites } from '../../stores/sqlite/webhook-writes.ts'
import { stocked } from './fixtures.ts'
import { openStoreWithWriter } from './sqlite-with-writer.ts'
import { claimOf, makeWebhook } from './webhook-fixtures.ts'

const hour = 3_600_000

/** A webhook with two events, whose verbs run in this thread, so that the test can set their clock. */
async function waiting(t: Test) {
  const { store, path } = await openStoreWithWriter(t)
  await makeWebhook(store)
  await store.createProduct('a', stocked(1))
  await store.createProduct('b', stocked(1))
  const db = new Connection(path)
  const webhooks = makeWebhookWrites(db, makeEventLog(db))
  const realNow = Date.now
  t.teardown(() => {
    Date.now = realNow
    db.close()
  })
  return {
    webhooks,
    backlog: makeWebhookBacklog(db),
    claim: () => webhooks.claimWebhooks('w', 1)[0],
    setClock(by: number) {
      Date.now = () => realNow() + by
    }
  }
}

t.test('a clock that is set changes no wait of a webhook', async (t) => {
  const { webhooks, claim, setClock } = await waiting(t)
  const first = claim()
  webhooks.settleWebhook('w', claimOf(first), { step: { kind: 'delivered', position: first?.next.position ?? 0, yields: true } })
  setClock(-hour)
  const second = claim()
  t.ok(second, 'after the end of its turn it has another at once')
  webhooks.settleWebhook('w', claimOf(second), { step: { kind: 'retry', in: 0, failures: 1 } })
  setClock(-2 * hour)
  const third = claim()
  t.ok(third, 'its next attempt is not made later')
  webhooks.settleWebhook('w', claimOf(third), { step: { kind: 'retry', in: hour, failures: 1 } })
  setClock(2 * hour)
  t.equal(claim(), undefined, 'nor earlier')
})

t.test('a clock that is set makes no webhook overdue', async (t) => {
  const { webhooks, backlog, claim, setClock } = await waiting(t)
  webhooks.settleWebhook('w', claimOf(claim()), { step: { kind: 'retry', in: 0, failures: 1 } })
  setClock(hour)
  const { dueSince = 0 } = backlog(scheduleTime())
  t.ok(Math.abs(Date.now() - dueSince) < hour / 2)
})
