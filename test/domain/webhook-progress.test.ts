import { test } from 'tap'
import { decideProgress } from '../../domain/webhook-progress.ts'

const schedule = { position: 7, failures: 2, nextAttemptAt: 500 }
const webhook = { id: 'w', version: 3, customer: 'Harbour', modifiedAt: 900, ...schedule }
const claim = { id: 'w', version: 3 }
const now = 1000

test('after a delivery the next event is due, with no failures, and the claim goes on', (t) => {
  const decided = decideProgress(webhook, claim, { kind: 'delivered', position: 9 }, now)
  t.strictSame(decided, { schedule: { position: 9, failures: 0, nextAttemptAt: 500 }, isClaimed: true })
  const last = decideProgress(webhook, claim, { kind: 'delivered', position: 9, yields: true }, now)
  t.strictSame(last, { schedule: { position: 9, failures: 0, nextAttemptAt: now }, isClaimed: false }, 'the end of a turn ends the claim')
  t.end()
})

test('a failure of the receiver counts, and one of the shop does not', (t) => {
  const retried = decideProgress(webhook, claim, { kind: 'retry', in: 50 }, now)
  t.strictSame(retried, { schedule: { position: 7, failures: 3, nextAttemptAt: 1050 }, isClaimed: false })
  const postponed = decideProgress(webhook, claim, { kind: 'postpone', in: 50 }, now)
  t.strictSame(postponed, { schedule: { position: 7, failures: 2, nextAttemptAt: 1050 }, isClaimed: false })
  t.end()
})

test('a webhook that is disabled keeps its place, gets another version, and makes an event of its owner', (t) => {
  const { disabled, ...rest } = decideProgress(webhook, claim, { kind: 'disable', reason: 'gone' }, now)
  t.strictSame(rest, { schedule, isClaimed: false })
  t.strictSame(disabled, {
    change: { version: 4, modifiedAt: now, status: 'disabled', reason: 'gone' },
    event: { type: 'webhook-disabled', subject: 'w', version: 4, at: now, customer: 'Harbour' }
  })
  t.end()
})

test('a webhook that was changed since it was claimed only loses the claim', (t) => {
  for (const step of [
    { kind: 'delivered', position: 9 },
    { kind: 'retry', in: 50 },
    { kind: 'disable', reason: 'gone' }
  ] as const) {
    t.strictSame(decideProgress({ ...webhook, version: 4 }, claim, step, now), { schedule, isClaimed: false }, step.kind)
  }
  t.end()
})
