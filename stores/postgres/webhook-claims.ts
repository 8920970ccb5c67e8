import { type ClaimedWebhook, claimLasts, type Delivery, mostDeliveries, type Webhook } from '../../domain/webhook.ts'
import { decideProgress, withoutWork } from '../../domain/webhook-progress.ts'
import type { WebhookStore } from '../../domain/webhook-store.ts'
import type { StoredWebhook } from '../../domain/webhook-writes.ts'
import {
  type BacklogRow,
  backlogOf,
  type ClaimedRow,
  claimedColumns,
  claimedOf,
  type StoredRow,
  storedColumns,
  storedOf,
  storedRow,
  webhookOf
} from '../webhook-rows.ts'
import type { Database, Queries } from './database.ts'
import { EventLog } from './event-log.ts'
import { joinEvent, nextHeard } from './event-lookups.ts'

/** The time by the database's clock, as an expression that can be compared with an index. */
const statementTime = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint'

/** The first event after the position of a webhook that it hears. Each type is one look-up in an index. */
const nextPosition = `(SELECT min(found.position) FROM (
  SELECT (${nextHeard({ type: 't.value' }, 'w.position')}) AS position FROM json_array_elements_text(w.hears) AS t (value)
  UNION ALL
  SELECT (${nextHeard({ customer: 'w.customer', type: 't.value' }, 'w.position')}) FROM json_array_elements_text(w.hears_own) AS t (value)) AS found)`

/** Whether a webhook hears one of the events after a position. */
const hearsSince = `(EXISTS (SELECT 1 FROM json_array_elements_text(w.hears) AS t (value) JOIN fresh f ON f.type = t.value)
  OR EXISTS (SELECT 1 FROM json_array_elements_text(w.hears_own) AS t (value) JOIN fresh f ON f.type = t.value AND f.customer = w.customer))`

/** A webhook that the worker ($1) can claim, and does not serve ($3). */
const isClaimable = `w.status = 'active' AND w.next_attempt_at <= ${statementTime} AND w.id <> ALL ($3::uuid[])
  AND (w.claimed_by IS NULL OR w.claimed_by = $1 OR w.claimed_until < ${statementTime})`

type Row = ClaimedRow & { readonly at: number }

/** Reads claimed webhooks in the order of their ids. */
async function readClaimed(queries: Queries, worker: string, ids: readonly string[]): Promise<readonly ClaimedWebhook[]> {
  const rows = await queries.query<Row>(
    `SELECT ${claimedColumns}, ${statementTime} AS at FROM webhook w JOIN api_key k ON k.id = w.key_id
      ${joinEvent(nextPosition)}
      WHERE w.id = ANY($1::uuid[]) AND w.status = 'active' AND w.claimed_by = $2 ORDER BY array_position($1::uuid[], w.id)`,
    [ids, worker]
  )
  return rows.map((row) => claimedOf(row, row.at))
}

/** Adds a row to the log of a webhook, whose row is locked, and deletes the oldest. */
function writeDelivery({ query }: Queries, seq: number, number: number, delivery: Delivery): void {
  const { eventId, attempt, at, durationMs, status = null, failure = null } = delivery
  void query('UPDATE webhook SET delivery_count = $2 WHERE seq = $1', [seq, number])
  void query(
    `INSERT INTO delivery (webhook, number, event, attempt, at, duration_ms, status, failure) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [seq, number, eventId, attempt, at, durationMs, status, failure]
  )
  void query('DELETE FROM delivery WHERE webhook = $1 AND number <= $2', [seq, number - mostDeliveries])
}

interface HeldRow extends StoredRow {
  readonly seq: number
  readonly delivery_count: number
  readonly at: number
}

/** Writes the row of a webhook, and the columns of its claim that change. Does not wait for the answer. */
export function writeWebhook({ query }: Queries, how: 'insert' | 'update', stored: StoredWebhook, claim: object = {}): Webhook {
  const row = storedRow(stored)
  const values = Object.entries({ ...row, ...claim })
  const columns = values.map(([name]) => name).join(', ')
  const parameters = values.map((_, i) => `$${i + 1}`).join(', ')
  const id = values.findIndex(([name]) => name === 'id') + 1
  void query(
    how === 'insert'
      ? `INSERT INTO webhook (${columns}) VALUES (${parameters})`
      : `UPDATE webhook SET (${columns}) = ROW (${parameters}) WHERE id = $${id}`,
    values.map(([, value]) => value)
  )
  return webhookOf(row)
}

/** The verbs by which the replicas share the deliveries. */
export function makeWebhookClaims(
  database: Database
): Pick<WebhookStore, 'claimWebhooks' | 'renewClaim' | 'settleWebhook' | 'releaseWebhooks' | 'webhookBacklog' | 'logDelivery'> {
  return {
    async claimWebhooks(worker, limit, { serving = [], since = null, perCustomer = Number.MAX_SAFE_INTEGER } = {}) {
      // Another replica may claim a webhook before it is locked here, so the condition is checked again with the lock.
      const claimed = await database.write<{ readonly id: string }>(
        `WITH fresh AS MATERIALIZED (SELECT DISTINCT type, customer FROM event WHERE position > $4::bigint),
          held AS (SELECT customer, count(*) AS turns FROM webhook WHERE id = ANY ($3::uuid[]) GROUP BY customer),
          due AS MATERIALIZED (SELECT w.seq, coalesce(h.turns, 0)
              + row_number() OVER (PARTITION BY w.customer ORDER BY w.next_attempt_at, w.seq) AS turn
            FROM webhook w LEFT JOIN held h ON h.customer = w.customer WHERE ${isClaimable}
              AND ($4 IS NULL OR ${hearsSince}) AND ${nextPosition} IS NOT NULL),
          chosen AS MATERIALIZED (SELECT w.seq, due.turn FROM webhook w JOIN due ON due.seq = w.seq
            WHERE due.turn <= $5 AND ${isClaimable} ORDER BY due.turn, w.next_attempt_at, w.seq LIMIT $2 FOR UPDATE OF w SKIP LOCKED),
          claimed AS (UPDATE webhook w SET claimed_by = $1, claimed_until = ${statementTime} + ${claimLasts}
            FROM chosen WHERE w.seq = chosen.seq RETURNING w.id, w.seq, w.next_attempt_at, chosen.turn)
          SELECT id FROM claimed ORDER BY turn, next_attempt_at, seq`,
        [worker, limit, serving, since, perCustomer]
      )
      if (claimed.length === 0) return []
      return readClaimed(
        database,
        worker,
        claimed.map(({ id }) => id)
      )
    },
    async renewClaim(worker, { id, version }) {
      const renewed = await database.write(
        `UPDATE webhook SET claimed_until = ${statementTime} + ${claimLasts} WHERE id = $1 AND claimed_by = $2 AND version = $3 RETURNING seq`,
        [id, worker, version]
      )
      return renewed.length > 0
    },
    settleWebhook: (worker, claim, { delivery, step }) =>
      database.transaction(async (queries) => {
        const [held] = await queries.query<HeldRow>(
          `SELECT seq, delivery_count, ${storedColumns}, ${statementTime} AS at FROM webhook WHERE id = $1 AND claimed_by = $2 FOR UPDATE`,
          [claim.id, worker]
        )
        if (!held) return undefined
        if (delivery) writeDelivery(queries, held.seq, held.delivery_count + 1, delivery)
        const { stored, isClaimed, events } = decideProgress(storedOf(held), claim, step, { now: held.at, ofSchedule: held.at })
        const ended = { claimed_by: null }
        writeWebhook(queries, 'update', stored, isClaimed ? { claimed_until: held.at + claimLasts } : ended)
        const log = new EventLog()
        log.add(events)
        log.write(queries)
        if (!isClaimed) return undefined
        const [next] = await readClaimed(queries, worker, [claim.id])
        if (!next) writeWebhook(queries, 'update', withoutWork(stored), ended)
        return next
      }),
    async releaseWebhooks(worker) {
      await database.write('UPDATE webhook SET claimed_by = NULL WHERE claimed_by = $1', [worker])
    },
    async webhookBacklog() {
      const [row] = await database.query<BacklogRow>(
        `SELECT count(*) AS waiting, min(at) AS oldest_at, min(due_at) AS due_since FROM (
          SELECT e.at, CASE WHEN (w.claimed_by IS NULL OR w.claimed_until < ${statementTime}) AND w.next_attempt_at <= ${statementTime}
              THEN greatest(e.at, w.next_attempt_at) END AS due_at
            FROM webhook w ${joinEvent(nextPosition)}
            WHERE w.status = 'active') waiting`
      )
      return backlogOf(row)
    },
    async logDelivery(id, delivery) {
      await database.transaction(async (queries) => {
        const [found] = await queries.query<Pick<HeldRow, 'seq' | 'delivery_count'>>(
          'SELECT seq, delivery_count FROM webhook WHERE id = $1 FOR UPDATE',
          [id]
        )
        if (found) writeDelivery(queries, found.seq, found.delivery_count + 1, delivery)
      })
    }
  }
}
