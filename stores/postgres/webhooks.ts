import { checkPrecondition } from '../../domain/preconditions.ts'
import { requireRoom, rotated, webhookNotFound } from '../../domain/webhook.ts'
import type { WebhookStore } from '../../domain/webhook-store.ts'
import { isEventId } from '../event-ids.ts'
import { type HeadRow, headColumns } from '../event-rows.ts'
import { position, toPage } from '../paging.ts'
import {
  type DeliveryRow,
  deliveryColumns,
  deliveryOf,
  draftColumns,
  type RedeliveryRow,
  redeliveryColumns,
  redeliveryOf,
  type WebhookCounts,
  type WebhookRow,
  webhookColumns,
  webhookCounts,
  webhookOf
} from '../webhook-rows.ts'
import type { Database, Queries } from './database.ts'
import { isOrderId as isUuid, now } from './rows.ts'
import { makeWebhookClaims } from './webhook-claims.ts'

/** The id of the advisory lock for new webhooks, whose number is limited. It is arbitrary. */
const lock = 7_361_002

interface FoundRow extends WebhookRow {
  readonly seq: number
  readonly secrets: string
  readonly at: number
}

async function find(queries: Queries, id: string, customer: string, how: '' | 'FOR UPDATE' = ''): Promise<FoundRow> {
  const sql = `SELECT w.seq, w.secrets, ${now} AS at, ${webhookColumns} FROM webhook w WHERE w.id = $1 AND w.customer = $2 ${how}`
  const [row] = isUuid(id) ? await queries.query<FoundRow>(sql, [id, customer]) : []
  if (!row) throw webhookNotFound()
  return row
}

function only(rows: readonly WebhookRow[]) {
  const [row] = rows
  if (!row) throw new Error('the webhook was not returned')
  return webhookOf(row)
}

export function makeWebhooks(database: Database): WebhookStore {
  return {
    ...makeWebhookClaims(database),
    createWebhook: (webhook, secret) =>
      database.transaction(async ({ query }) => {
        const c = draftColumns(webhook)
        await query('SELECT pg_advisory_xact_lock($1)', [lock])
        const [count] = await query<WebhookCounts>(webhookCounts('$1', now), [c.customer])
        requireRoom(count?.own ?? 0, count?.total ?? 0)
        const rows = await query<WebhookRow>(
          `INSERT INTO webhook AS w (id, version, customer, key_id, url, types, hears, hears_own, media_type, status, secrets, created_at,
              modified_at, position, next_attempt_at)
            VALUES (gen_random_uuid(), 1, $1, $2, $3, $4, $5, $6, $7, $8, $9, ${now}, ${now},
              (SELECT coalesce(max(position), 0) FROM event), 0) RETURNING ${webhookColumns}`,
          [c.customer, c.key_id, c.url, c.types, c.hears, c.hears_own, c.media_type, c.status, JSON.stringify([{ secret }])]
        )
        return only(rows)
      }),
    async webhooks(customer) {
      const sql = `SELECT ${webhookColumns} FROM webhook w WHERE w.customer = $1 ORDER BY w.seq`
      return (await database.query<WebhookRow>(sql, [customer])).map(webhookOf)
    },
    webhook: async (id, customer) => webhookOf(await find(database, id, customer)),
    changeWebhook: (id, webhook, expected) =>
      database.transaction(async (queries) => {
        const c = draftColumns(webhook)
        const { seq, version } = await find(queries, id, c.customer, 'FOR UPDATE')
        checkPrecondition(expected, version)
        const rows = await queries.query<WebhookRow>(
          `UPDATE webhook w SET version = version + 1, key_id = $2, url = $3, types = $4, hears = $5, hears_own = $6, media_type = $7,
              status = $8, reason = NULL, modified_at = ${now}, failures = 0, next_attempt_at = 0 WHERE seq = $1 RETURNING ${webhookColumns}`,
          [seq, c.key_id, c.url, c.types, c.hears, c.hears_own, c.media_type, c.status]
        )
        return only(rows)
      }),
    addWebhookSecret: (id, customer, secret) =>
      database.transaction(async (queries) => {
        const { seq, secrets, at } = await find(queries, id, customer, 'FOR UPDATE')
        const rows = await queries.query<WebhookRow>(
          `UPDATE webhook w SET version = version + 1, secrets = $2, modified_at = $3 WHERE seq = $1 RETURNING ${webhookColumns}`,
          [seq, JSON.stringify(rotated(JSON.parse(secrets), secret, at)), at]
        )
        return only(rows)
      }),
    deleteWebhook: (id, customer, expected) =>
      database.transaction(async (queries) => {
        const { seq, version } = await find(queries, id, customer, 'FOR UPDATE')
        checkPrecondition(expected, version)
        await queries.query('DELETE FROM webhook WHERE seq = $1', [seq])
      }),
    async deliveries(id, customer, { limit, after }) {
      const before = after === undefined ? Number.MAX_SAFE_INTEGER : position(after)
      const { seq } = await find(database, id, customer)
      const rows = await database.query<DeliveryRow>(
        `SELECT ${deliveryColumns} FROM delivery d WHERE d.webhook = $1 AND d.number < $2 ORDER BY d.number DESC LIMIT $3::bigint + 1`,
        [seq, before, limit]
      )
      return toPage(rows, limit, deliveryOf, ({ number }) => String(number))
    },
    async redelivery(id, customer, eventId) {
      const { seq, at } = await find(database, id, customer)
      const [row] = await database.query<RedeliveryRow>(
        `SELECT ${redeliveryColumns} FROM webhook w JOIN api_key k ON k.id = w.key_id WHERE w.seq = $1`,
        [seq]
      )
      if (!row) throw webhookNotFound()
      const sql = `SELECT ${headColumns} FROM event e WHERE e.id = $1`
      const [head] = isEventId(eventId) ? await database.query<HeadRow>(sql, [eventId]) : []
      return redeliveryOf(row, head, at)
    }
  }
}
