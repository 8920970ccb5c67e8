import { test } from 'tap'
import type { WebhookProgress } from '../../domain/webhook.ts'
import { decideProgress, withoutWork } from '../../domain/webhook-progress.ts'
import { decideNewWebhook } from '../../domain/webhook-writes.ts'
import { wanted } from './wanted-webhook.ts'

const schedule = { position: 7, failures: 2, nextAttemptAt: 500 }
const webhook = decideNewWebhook('w', wanted, 'one', { ofCustomer: 0, inAll: 0, position: 7, now: 900 })
const stored = { ...webhook, webhook: { ...webhook.webhook, version: 3 }, schedule }
const claim = { id: 'w', version: 3 }
const times = { now: 1000, ofSchedule: 2000 }

/** The schedule after a step that changes nothing else, and whether the claim goes on. */
function scheduled(step: WebhookProgress['step'], before = stored) {
  const { stored: after, isClaimed, events } = decideProgress(before, claim, step, times)
  return {
    isElseChanged: JSON.stringify({ ...after, schedule }) !== JSON.stringify({ ...before, schedule }),
    schedule: after.schedule,
    isClaimed,
    events
  }
}
const only = { isElseChanged: false, events: [] }

test('after a delivery the next event is due, with no failures, and the claim goes on', (t) => {
  for (const kind of ['delivered', 'skip'] as const) {
    const decided = scheduled({ kind, position: 9 })
    t.strictSame(decided, { ...only, schedule: { position: 9, failures: 0, nextAttemptAt: 500 }, isClaimed: true }, kind)
  }
  const last = scheduled({ kind: 'delivered', position: 9, yields: true })
  t.strictSame(
    last,
    { ...only, schedule: { position: 9, failures: 0, nextAttemptAt: 2000 }, isClaimed: false },
    'the end of a turn ends the claim'
  )
  t.end()
})

test('a failure of the receiver counts, and one of the shop does not', (t) => {
  const retried = scheduled({ kind: 'retry', in: 50, failures: 3 })
  t.strictSame(retried, { ...only, schedule: { position: 7, failures: 3, nextAttemptAt: 2050 }, isClaimed: false })
  const postponed = scheduled({ kind: 'postpone', in: 50 })
  t.strictSame(postponed, { ...only, schedule: { position: 7, failures: 2, nextAttemptAt: 2050 }, isClaimed: false })
  t.end()
})

test('a webhook that is disabled keeps its place, gets another version, and makes an event of its owner', (t) => {
  const { stored: after, ...rest } = decideProgress(stored, claim, { kind: 'disable', reason: 'gone' }, times)
  t.strictSame(after, { ...stored, webhook: { ...stored.webhook, version: 4, modifiedAt: 1000, status: 'disabled', reason: 'gone' } })
  t.strictSame(rest, {
    isClaimed: false,
    events: [{ type: 'webhook-disabled', subject: 'w', version: 4, at: 1000, customer: 'Harbour' }]
  })
  t.end()
})

test('a webhook that was changed since it was claimed only loses the claim', (t) => {
  const changed = { ...stored, webhook: { ...stored.webhook, version: 4 } }
  for (const step of [
    { kind: 'delivered', position: 9 },
    { kind: 'retry', in: 50, failures: 1 },
    { kind: 'disable', reason: 'gone' }
  ] as const) {
    t.strictSame(scheduled(step, changed), { ...only, schedule, isClaimed: false }, step.kind)
  }
  t.end()
})

test('when no event is left, the next one is due at once', (t) => {
  t.strictSame(withoutWork(stored), { ...stored, schedule: { ...schedule, nextAttemptAt: 0 } })
  t.end()
})
