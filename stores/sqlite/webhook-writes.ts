import { randomUUID } from 'node:crypto'
import { checkPrecondition } from '../../domain/preconditions.ts'
import { type Delivery, mostDeliveries, type Webhook, webhookNotFound } from '../../domain/webhook.ts'
import { decideProgress, withoutWork } from '../../domain/webhook-progress.ts'
import {
  decideNewSecret,
  decideNewWebhook,
  decideWebhookChange,
  type StoredWebhook,
  type WebhookChangeShop,
  type WebhookShop
} from '../../domain/webhook-writes.ts'
import { requiredRow } from '../required-row.ts'
import {
  type ClaimedRow,
  changingColumns,
  claimedColumns,
  claimedOf,
  type StoredRow,
  selectWebhookChangeShop,
  selectWebhookShop,
  storedColumns,
  storedOf,
  storedRow,
  webhookOf
} from '../webhook-rows.ts'
import type { Connection } from './connection.ts'
import type { EventLog } from './event-log.ts'
import { steadyNow } from './steady-clock.ts'
import { nextPosition } from './webhook-backlog.ts'
import type { WebhookWriteVerb, Writes } from './write-verbs.ts'

interface FoundRow extends StoredRow {
  readonly seq: number
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

/** Whether a webhook hears one of the events after a position. */
const hearsSince = `(EXISTS (SELECT 1 FROM json_each(w.hears) t JOIN fresh f ON f.type = t.value)
  OR EXISTS (SELECT 1 FROM json_each(w.hears_own) t JOIN fresh f ON f.type = t.value AND f.customer = w.customer))`

export function makeWebhookWrites(db: Connection, events: EventLog): Writes<WebhookWriteVerb> {
  const shop = db.prepare<[{ readonly customer: string; readonly now: number }], WebhookShop>(selectWebhookShop('@customer', '@now'))
  const changeShop = db.prepare<[{ readonly id: string; readonly now: number }], WebhookChangeShop>(selectWebhookChangeShop('@id', '@now'))
  const parameters = (columns: string) => columns.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare<[StoredRow]>(`INSERT INTO webhook (${storedColumns}) VALUES (${parameters(storedColumns)})`)
  const update = db.prepare<[StoredRow]>(`UPDATE webhook SET (${changingColumns}) = (${parameters(changingColumns)}) WHERE id = @id`)
  const findRow = db.prepare<[string], FoundRow>(`SELECT seq, claimed_by, ${storedColumns} FROM webhook WHERE id = ?`)
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
  const claim = db.prepare<[string | null, number]>('UPDATE webhook SET claimed_by = ? WHERE seq = ?')
  const claimed = db.prepare<[number, string], ClaimedRow>(
    `SELECT ${claimedColumns} FROM webhook w JOIN api_key k ON k.id = w.key_id
      JOIN event e ON e.position = ${nextPosition} WHERE w.seq = ? AND w.status = 'active' AND w.claimed_by = ?`
  )
  const releaseAll = db.prepare<[string]>('UPDATE webhook SET claimed_by = NULL WHERE claimed_by = ?')
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
    createWebhook(webhook, secret, id = randomUUID()) {
      const made = findRow.get(id)
      if (made?.customer === webhook.owner.customer) return { ...webhookOf(made), isRepeated: true }
      const counts = requiredRow(shop.get({ customer: webhook.owner.customer, now: Date.now() }))
      return write(insert, decideNewWebhook(id, webhook, secret, counts))
    },
    changeWebhook(id, webhook, expected) {
      const before = find(id, webhook.owner.customer)
      return write(update, decideWebhookChange(before, webhook, expected, requiredRow(changeShop.get({ id, now: Date.now() }))))
    },
    addWebhookSecret: (id, customer, secret, expected) => write(update, decideNewSecret(find(id, customer), secret, expected, Date.now())),
    deleteWebhook(id, customer, expected) {
      checkPrecondition(expected, find(id, customer).webhook.version)
      remove.run(id)
    },
    claimWebhooks(worker, limit, { serving = [], since = null, perCustomer = Number.MAX_SAFE_INTEGER } = {}) {
      return due.all({ now: steadyNow(), serving: JSON.stringify(serving), limit, since, perCustomer }).flatMap((seq) => {
        claim.run(worker, seq)
        const row = claimed.get(seq, worker)
        return row ? [claimedOf(row, Date.now())] : []
      })
    },
    settleWebhook(worker, { id, version }, { delivery, step }) {
      const found = findRow.get(id)
      if (found?.claimed_by !== worker) return undefined
      const { seq } = found
      const now = Date.now()
      if (delivery) keep(seq, delivery)
      const { stored, isClaimed, events: made } = decideProgress(storedOf(found), { id, version }, step, { now, ofSchedule: steadyNow() })
      write(update, stored)
      events.write(made)
      const row = isClaimed ? claimed.get(seq, worker) : undefined
      if (row) return claimedOf(row, now)
      if (isClaimed) write(update, withoutWork(stored))
      claim.run(null, seq)
      return undefined
    },
    releaseWebhooks(worker) {
      releaseAll.run(worker)
    },
    logDelivery(id, delivery) {
      const found = findRow.get(id)
      if (found) keep(found.seq, delivery)
    }
  }
}
