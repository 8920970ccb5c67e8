import type { WebhookBacklog } from '../../domain/webhook.ts'
import { type BacklogRow, backlogOf } from '../webhook-rows.ts'
import type { Connection } from './connection.ts'
import { steadyNow } from './steady-clock.ts'

/** The first event after the position of a webhook (`w`) that it hears. Each type is one look-up in an index. */
export const nextPosition = `(SELECT min(found) FROM (
  SELECT (SELECT min(position) FROM event INDEXED BY event_type WHERE type = t.value AND position > w.position) AS found
    FROM json_each(w.hears) t
  UNION ALL
  SELECT (SELECT min(position) FROM event INDEXED BY event_customer WHERE customer = w.customer AND type = t.value AND position > w.position)
    FROM json_each(w.hears_own) t))`

/** The time of the schedule of deliveries, and by how much the clock is ahead of it. */
export interface ScheduleTime {
  readonly now: number
  readonly clockIsAhead: number
}

export function scheduleTime(): ScheduleTime {
  const now = steadyNow()
  return { now, clockIsAhead: Date.now() - now }
}

/**
 * Reads the backlog of the webhooks, which takes longer the more of them there are.
 * @returns a function that takes the serving thread's schedule time. This thread's own steady clock differs if the system clock was set
 * before the thread started.
 */
export function makeWebhookBacklog(db: Connection): (time: ScheduleTime) => WebhookBacklog {
  const backlog = db.prepare<[ScheduleTime], BacklogRow>(
    `SELECT count(*) AS waiting, min(at) AS oldest_at, min(due_at) AS due_since FROM (
      SELECT e.at, iif(w.claimed_by IS NULL AND w.next_attempt_at <= @now, max(e.at, w.next_attempt_at + @clockIsAhead), NULL) AS due_at
        FROM webhook w JOIN event e ON e.position = ${nextPosition} WHERE w.status = 'active')`
  )
  return (time) => backlogOf(backlog.get(time))
}
