import t from 'tap'
import { canBecome, isActive, nextStatuses, orderStatuses } from '../../domain/order.ts'
import { partlyShipped, progressSteps } from '../../representations/order.ts'

t.test('the progress of an order follows the transitions of statuses to its end, and has the status that the order is in', async (t) => {
  for (const status of orderStatuses) {
    const steps = progressSteps(status)
    t.ok(steps.includes(status), status)
    t.same(nextStatuses(steps.at(-1) ?? status), [], `after the last step of ${status} nothing comes`)
    if (!isActive(status)) continue
    const next = steps.slice(1)
    t.ok(
      next.every((one, i) => canBecome(steps[i] ?? one, one)),
      `each step leads to the next: ${steps.join(' → ')}`
    )
  }
  t.same(progressSteps('cancelled'), ['received', 'cancelled'])
})

t.test('an order is shipped in part while it can still be shipped', async (t) => {
  const shown = orderStatuses.filter((status) => partlyShipped({ status, shipmentCount: 1 }) !== undefined)
  t.same(shown, ['accepted'])
})
