import { randomUUID } from 'node:crypto'
import { checkPrecondition } from '../../domain/preconditions.ts'
import { type Delivery, mostDeliveries, requireRoom, rotated, webhookNotFound } from '../../domain/webhook.ts'
import { decideProgress, type WebhookSchedule } from '../../domain/webhook-progress.ts'
import {
  type BacklogRow,
  backlogOf,
  type ClaimedRow,
  claimedColumns,
  claimedOf,
  draftColumns,
  scheduleColumns,
  type WebhookCounts,
  type WebhookRow,
  webhookColumns,
  webhookCounts,
  webhookOf
} from '../webhook-rows.ts'
import type { Connection } from './connection.ts'
import type { EventLog } from './event-log.ts'
import type { Writes } from './writes.ts'

export type WebhookWriteVerb =
  | 'createWebhook'
  | 'changeWebhook'
  | 'addWebhookSecret'
  | 'deleteWebhook'
  | 'claimWebhooks'
  | 'settleWebhook'
  | 'renewClaim'
  | 'releaseWebhooks'
  | 'logDelivery'
  | 'webhookBacklog'

interface FoundRow extends WebhookRow, WebhookSchedule {
  readonly seq: number
  readonly secrets: string
  readonly claimed_by: string | null
}

/** The parameters of a search for webhooks that are due. */
interface Due {
  readonly now: number
  /** A JSON array of ids. */
  readonly serving: string
  readonly limit: number
  readonly since: number | null
  readonly perCustomer: number
}

/** The first event after the position of a webhook that it hears. Each type is one look-up in an index. */
const nextPosition = `(SELECT min(found) FROM (
  SELECT (SELECT min(position) FROM event INDEXED BY event_type WHERE type = t.value AND position > w.position) AS found
    FROM json_each(w.hears) t
  UNION ALL
  SELECT (SELECT min(position) FROM event INDEXED BY event_customer WHERE customer = w.customer AND type = t.value AND position > w.position)
    FROM json_each(w.hears_own) t))`

/** Whether a webhook hears one of the events after a position. */
const hearsSince = `(EXISTS (SELECT 1 FROM json_each(w.hears) t JOIN fresh f ON f.type = t.value)
  OR EXISTS (SELECT 1 FROM json_each(w.hears_own) t JOIN fresh f ON f.type = t.value AND f.customer = w.customer))`

export function makeWebhookWrites(db: Connection, events: EventLog): Writes<WebhookWriteVerb> {
  const count = db.prepare<[{ readonly customer: string; readonly now: number }], WebhookCounts>(webhookCounts('@customer', '@now'))
  const insert = db.prepare<[object]>(
    `INSERT INTO webhook (id, version, customer, key_id, url, types, hears, hears_own, media_type, status, secrets, created_at, modified_at,
        position, next_attempt_at)
      VALUES (@id, 1, @customer, @key_id, @url, @types, @hears, @hears_own, @media_type, @status, @secrets, @now, @now,
        (SELECT coalesce(max(position), 0) FROM event), 0)`
  )
  const findRow = db.prepare<[string], FoundRow>(
    `SELECT w.seq, w.secrets, w.claimed_by, ${scheduleColumns}, ${webhookColumns} FROM webhook w WHERE w.id = ?`
  )
  const update = db.prepare<[object]>(
    `UPDATE webhook SET version = version + 1, key_id = @key_id, url = @url, types = @types, hears = @hears, hears_own = @hears_own,
      media_type = @media_type, status = @status, reason = NULL, modified_at = @now, failures = 0, next_attempt_at = 0 WHERE id = @id`
  )
  const updateSecrets = db.prepare<[string, number, string]>(
    'UPDATE webhook SET version = version + 1, secrets = ?, modified_at = ? WHERE id = ?'
  )
  const remove = db.prepare<[string]>('DELETE FROM webhook WHERE id = ?')
  const due = db
    .prepare<[Due], number>(
      `WITH fresh AS MATERIALIZED (SELECT DISTINCT type, customer FROM event WHERE position > @since),
        held AS (SELECT customer, count(*) AS turns FROM webhook WHERE id IN (SELECT value FROM json_each(@serving)) GROUP BY customer),
        due AS (SELECT w.seq, w.next_attempt_at, coalesce(h.turns, 0)
            + row_number() OVER (PARTITION BY w.customer ORDER BY w.next_attempt_at, w.seq) AS turn
          FROM webhook w LEFT JOIN held h ON h.customer = w.customer WHERE w.status = 'active' AND w.next_attempt_at <= @now
          AND w.id NOT IN (SELECT value FROM json_each(@serving)) AND (@since IS NULL OR ${hearsSince})
          AND ${nextPosition} IS NOT NULL)
        SELECT seq FROM due WHERE turn <= @perCustomer ORDER BY turn, next_attempt_at, seq LIMIT @limit`
    )
    .pluck()
  const backlog = db.prepare<[{ readonly now: number }], BacklogRow>(
    `SELECT count(*) AS waiting, min(at) AS oldest_at, min(due_at) AS due_since FROM (
      SELECT e.at, iif(w.claimed_by IS NULL AND w.next_attempt_at <= @now, max(e.at, w.next_attempt_at), NULL) AS due_at
        FROM webhook w JOIN event e ON e.position = ${nextPosition} WHERE w.status = 'active')`
  )
  const claim = db.prepare<[string, number]>('UPDATE webhook SET claimed_by = ? WHERE seq = ?')
  const claimed = db.prepare<[number, string], ClaimedRow>(
    `SELECT ${claimedColumns} FROM webhook w JOIN api_key k ON k.id = w.key_id
      JOIN event e ON e.position = ${nextPosition} WHERE w.seq = ? AND w.status = 'active' AND w.claimed_by = ?`
  )
  const schedule = db.prepare<[WebhookSchedule & { readonly seq: number; readonly claimedBy: string | null }]>(
    `UPDATE webhook SET position = @position, failures = @failures, next_attempt_at = @nextAttemptAt, claimed_by = @claimedBy WHERE seq = @seq`
  )
  const releaseAll = db.prepare<[string]>('UPDATE webhook SET claimed_by = NULL WHERE claimed_by = ?')
  const disable = db.prepare<[number, string, number, number]>(
    "UPDATE webhook SET version = ?, status = 'disabled', reason = ?, modified_at = ? WHERE seq = ?"
  )
  const countDelivery = db.prepare<[number]>('UPDATE webhook SET delivery_count = delivery_count + 1 WHERE seq = ?')
  const log = db.prepare<[object]>(
    `INSERT INTO delivery (webhook, number, event, attempt, at, duration_ms, status, failure)
      VALUES (@seq, (SELECT delivery_count FROM webhook WHERE seq = @seq), @event, @attempt, @at, @duration_ms, @status, @failure)`
  )
  const forget = db.prepare<[{ readonly seq: number; readonly most: number }]>(
    'DELETE FROM delivery WHERE webhook = @seq AND number <= (SELECT delivery_count FROM webhook WHERE seq = @seq) - @most'
  )

  function find(id: string, customer?: string): FoundRow {
    const row = findRow.get(id)
    if (!row || (customer !== undefined && row.customer !== customer)) throw webhookNotFound()
    return row
  }

  function keep(seq: number, { eventId, attempt, at, durationMs, status, failure }: Delivery): void {
    countDelivery.run(seq)
    log.run({ seq, event: eventId, attempt, at, duration_ms: durationMs, status: status ?? null, failure: failure ?? null })
    forget.run({ seq, most: mostDeliveries })
  }

  return {
    createWebhook(webhook, secret) {
      const { own, total } = count.get({ customer: webhook.owner.customer, now: Date.now() }) ?? { own: 0, total: 0 }
      requireRoom(own, total)
      const id = randomUUID()
      insert.run({ ...draftColumns(webhook), id, secrets: JSON.stringify([{ secret }]), now: Date.now() })
      return webhookOf(find(id))
    },
    changeWebhook(id, webhook, expected) {
      checkPrecondition(expected, find(id, webhook.owner.customer).version)
      update.run({ ...draftColumns(webhook), id, now: Date.now() })
      return webhookOf(find(id))
    },
    addWebhookSecret(id, customer, secret) {
      const now = Date.now()
      updateSecrets.run(JSON.stringify(rotated(JSON.parse(find(id, customer).secrets), secret, now)), now, id)
      return webhookOf(find(id))
    },
    deleteWebhook(id, customer, expected) {
      checkPrecondition(expected, find(id, customer).version)
      remove.run(id)
    },
    claimWebhooks(worker, limit, { serving = [], since = null, perCustomer = Number.MAX_SAFE_INTEGER } = {}) {
      const now = Date.now()
      return due.all({ now, serving: JSON.stringify(serving), limit, since, perCustomer }).flatMap((seq) => {
        claim.run(worker, seq)
        const row = claimed.get(seq, worker)
        return row ? [claimedOf(row, now)] : []
      })
    },
    renewClaim(worker, { id, version }) {
      const found = findRow.get(id)
      return found !== undefined && found.version === version && found.claimed_by === worker
    },
    settleWebhook(worker, claim, { delivery, step }) {
      const found = findRow.get(claim.id)
      if (found?.claimed_by !== worker) return undefined
      const { seq } = found
      const now = Date.now()
      if (delivery) keep(seq, delivery)
      const decided = decideProgress(found, claim, step, now)
      schedule.run({ seq, ...decided.schedule, claimedBy: decided.isClaimed ? worker : null })
      if (decided.disabled) {
        const { reason, event } = decided.disabled
        disable.run(event.version, reason, now, seq)
        events.write([event])
      }
      if (!decided.isClaimed) return undefined
      const row = claimed.get(seq, worker)
      if (!row) schedule.run({ seq, ...decided.schedule, nextAttemptAt: 0, claimedBy: null })
      return row && claimedOf(row, now)
    },
    releaseWebhooks(worker) {
      releaseAll.run(worker)
    },
    webhookBacklog: () => backlogOf(backlog.get({ now: Date.now() })),
    logDelivery(id, delivery) {
      const found = findRow.get(id)
      if (found) keep(found.seq, delivery)
    }
  }
}
