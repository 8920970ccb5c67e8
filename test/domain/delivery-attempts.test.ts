import t from 'tap'
import { delays, nextStep } from '../../domain/delivery-attempts.ts'

const failed = { at: 0, durationMs: 1, failure: 'x' }
const answered = (status: number, retryAfter?: number) => ({
  at: 0,
  durationMs: 1,
  status,
  ...(retryAfter === undefined ? {} : { retryAfter })
})

t.test('an event is tried for over three days, and then the webhook is disabled', async (t) => {
  t.same(
    delays.map((delay) => delay / 1000),
    [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
    'seconds'
  )
  t.ok(delays.reduce((sum, delay) => sum + delay, 0) > 3 * 86_400_000)
  for (const [i, delay] of delays.entries()) {
    t.same(nextStep(i + 1, failed, 0), { kind: 'retry', in: delay, failures: i + 1 })
    t.same(nextStep(i + 1, failed, 1), { kind: 'retry', in: Math.round(delay * 1.1), failures: i + 1 }, 'with jitter')
  }
  t.match(nextStep(delays.length + 1, failed), { kind: 'disable', reason: /10 attempts/ })
})

t.test('2xx is a delivery, 410 ends the webhook, and any other status is a failure', async (t) => {
  for (const status of [200, 201, 202, 204, 299]) t.same(nextStep(1, answered(status)), { kind: 'delivered' }, String(status))
  t.match(nextStep(1, answered(410)), { kind: 'disable', reason: /410/ })
  for (const status of [300, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503])
    t.match(nextStep(1, answered(status)), { kind: 'retry' }, String(status))
})

t.test('Retry-After is obeyed up to a day, and never shortens the wait', async (t) => {
  t.same(nextStep(1, answered(503, 60_000), 0), { kind: 'retry', in: 60_000, failures: 1 })
  t.same(nextStep(2, answered(503, 1_000), 0), { kind: 'retry', in: 300_000, failures: 2 })
  t.same(nextStep(1, answered(503, 1e12), 0), { kind: 'retry', in: 86_400_000, failures: 1 })
})
