import { randomUUID } from 'node:crypto'
import { checkPrecondition } from '../../domain/preconditions.ts'
import { type Delivery, mostDeliveries, type Webhook, webhookNotFound } from '../../domain/webhook.ts'
import {
  decideProgress,
  type LockedWebhook,
  type ProgressDecision,
  type WebhookSchedule,
  withoutWork
} from '../../domain/webhook-progress.ts'
import {
  decideNewSecret,
  decideNewWebhook,
  decideWebhookChange,
  type StoredWebhook,
  type WebhookShop
} from '../../domain/webhook-writes.ts'
import {
  type BacklogRow,
  backlogOf,
  type ClaimedRow,
  claimedColumns,
  claimedOf,
  lockedColumns,
  type StoredRow,
  shopColumns,
  storedColumns,
  storedOf,
  storedRow,
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

interface LockedRow extends LockedWebhook {
  readonly seq: number
  readonly claimed_by: string | null
}

type Disabling = NonNullable<ProgressDecision['disabled']>['change'] & { readonly seq: number }

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
  const shop = db.prepare<[{ readonly customer: string; readonly now: number }], WebhookShop>(shopColumns('@customer', '@now'))
  const columns = storedColumns.join(', ')
  const values = columns.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare<[StoredRow]>(`INSERT INTO webhook (${columns}) VALUES (${values})`)
  const update = db.prepare<[StoredRow]>(`UPDATE webhook SET (${columns}) = (${values}) WHERE id = @id`)
  const findRow = db.prepare<[string], StoredRow>(`SELECT ${columns} FROM webhook WHERE id = ?`)
  const findLocked = db.prepare<[string], LockedRow>(`SELECT w.seq, w.claimed_by, ${lockedColumns} FROM webhook w WHERE w.id = ?`)
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
  const disable = db.prepare<[Disabling]>(
    'UPDATE webhook SET version = @version, status = @status, reason = @reason, modified_at = @modifiedAt WHERE seq = @seq'
  )
  const countDelivery = db.prepare<[number]>('UPDATE webhook SET delivery_count = delivery_count + 1 WHERE seq = ?')
  const log = db.prepare<[object]>(
    `INSERT INTO delivery (webhook, number, event, attempt, at, duration_ms, status, failure)
      VALUES (@seq, (SELECT delivery_count FROM webhook WHERE seq = @seq), @event, @attempt, @at, @duration_ms, @status, @failure)`
  )
  const forget = db.prepare<[{ readonly seq: number; readonly most: number }]>(
    'DELETE FROM delivery WHERE webhook = @seq AND number <= (SELECT delivery_count FROM webhook WHERE seq = @seq) - @most'
  )

  function find(id: string, customer: string): StoredWebhook {
    const row = findRow.get(id)
    if (row?.customer !== customer) throw webhookNotFound()
    return storedOf(row)
  }

  function write(statement: typeof insert, webhook: StoredWebhook): Webhook {
    const row = storedRow(webhook)
    statement.run(row)
    return webhookOf(row)
  }

  function keep(seq: number, { eventId, attempt, at, durationMs, status, failure }: Delivery): void {
    countDelivery.run(seq)
    log.run({ seq, event: eventId, attempt, at, duration_ms: durationMs, status: status ?? null, failure: failure ?? null })
    forget.run({ seq, most: mostDeliveries })
  }

  return {
    createWebhook(webhook, secret) {
      const found = shop.get({ customer: webhook.owner.customer, now: Date.now() })
      if (!found) throw new Error('the webhooks were not counted')
      return write(insert, decideNewWebhook(randomUUID(), webhook, secret, found))
    },
    changeWebhook: (id, webhook, expected) =>
      write(update, decideWebhookChange(find(id, webhook.owner.customer), webhook, expected, Date.now())),
    addWebhookSecret: (id, customer, secret) => write(update, decideNewSecret(find(id, customer), secret, Date.now())),
    deleteWebhook(id, customer, expected) {
      checkPrecondition(expected, find(id, customer).webhook.version)
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
      const found = findLocked.get(id)
      return found !== undefined && found.version === version && found.claimed_by === worker
    },
    settleWebhook(worker, claim, { delivery, step }) {
      const found = findLocked.get(claim.id)
      if (found?.claimed_by !== worker) return undefined
      const { seq } = found
      const now = Date.now()
      if (delivery) keep(seq, delivery)
      const decided = decideProgress(found, claim, step, now)
      schedule.run({ seq, ...decided.schedule, claimedBy: decided.isClaimed ? worker : null })
      if (decided.disabled) {
        disable.run({ seq, ...decided.disabled.change })
        events.write([decided.disabled.event])
      }
      if (!decided.isClaimed) return undefined
      const row = claimed.get(seq, worker)
      if (!row) schedule.run({ seq, ...withoutWork(decided.schedule), claimedBy: null })
      return row && claimedOf(row, now)
    },
    releaseWebhooks(worker) {
      releaseAll.run(worker)
    },
    webhookBacklog: () => backlogOf(backlog.get({ now: Date.now() })),
    logDelivery(id, delivery) {
      const found = findLocked.get(id)
      if (found) keep(found.seq, delivery)
    }
  }
}
