import { randomUUID } from 'node:crypto'
import { checkPrecondition } from '../../domain/preconditions.ts'
import { webhookNotFound } from '../../domain/webhook.ts'
import type { WebhookStore } from '../../domain/webhook-store.ts'
import {
  decideNewSecret,
  decideNewWebhook,
  decideWebhookChange,
  type WebhookChangeShop,
  type WebhookShop
} from '../../domain/webhook-writes.ts'
import { isEventId } from '../event-ids.ts'
import { type HeadRow, headColumns } from '../event-rows.ts'
import { position, toPage } from '../paging.ts'
import { requiredRow } from '../required-row.ts'
import {
  type DeliveryRow,
  deliveryColumns,
  deliveryOf,
  type RedeliveryRow,
  redeliveryColumns,
  redeliveryOf,
  type StoredRow,
  selectActiveOf,
  selectWebhookChangeShop,
  selectWebhookShop,
  storedColumns,
  storedOf,
  type WebhookRow,
  webhookColumns,
  webhookOf
} from '../webhook-rows.ts'
import type { Database, Queries } from './database.ts'
import { isUuid, now } from './rows.ts'
import { makeWebhookClaims, writeWebhook } from './webhook-claims.ts'

/** The id of the advisory lock for writes that add an active webhook, because their number is limited. It is arbitrary. */
const lock = 7_361_002

interface FoundRow extends StoredRow {
  readonly seq: number
  readonly at: number
}

async function find(queries: Queries, id: string, customer: string, how: '' | 'FOR UPDATE' = ''): Promise<FoundRow> {
  const sql = `SELECT seq, ${now} AS at, ${storedColumns} FROM webhook WHERE id = $1 AND customer = $2 ${how}`
  const [row] = isUuid(id) ? await queries.query<FoundRow>(sql, [id, customer]) : []
  if (!row) throw webhookNotFound()
  return row
}

/** Locks the number of webhooks. The counts of a later statement of the transaction then stay as they are. */
async function lockNumber({ query }: Queries): Promise<void> {
  await query('SELECT pg_advisory_xact_lock($1)', [lock])
}

async function count<Counts extends object>({ query }: Queries, sql: string, value: string): Promise<Counts> {
  const [counts] = await query<Counts>(sql, [value])
  return requiredRow(counts)
}

export function makeWebhooks(database: Database): WebhookStore {
  return {
    ...makeWebhookClaims(database),
    createWebhook: (webhook, secret, id = randomUUID()) =>
      database.transaction(async (queries) => {
        await lockNumber(queries)
        const [made] = await queries.query<WebhookRow>(`SELECT ${webhookColumns} FROM webhook WHERE id = $1 AND customer = $2`, [
          id,
          webhook.owner.customer
        ])
        if (made) return { ...webhookOf(made), isRepeated: true }
        const shop = await count<WebhookShop>(queries, selectWebhookShop('$1', now), webhook.owner.customer)
        return writeWebhook(queries, 'insert', decideNewWebhook(id, webhook, secret, shop))
      }),
    async webhooks(customer) {
      const sql = `SELECT ${webhookColumns} FROM webhook WHERE customer = $1 ORDER BY seq`
      return (await database.query<WebhookRow>(sql, [customer])).map(webhookOf)
    },
    async activeWebhooksOf({ customer, keyId }) {
      const [row] = await database.query<{ readonly active: number }>(selectActiveOf('$1', '$2'), [customer, keyId])
      return requiredRow(row).active
    },
    webhook: async (id, customer) => webhookOf(await find(database, id, customer)),
    changeWebhook: (id, webhook, expected) =>
      database.transaction(async (queries) => {
        if (webhook.status === 'active') await lockNumber(queries)
        const row = await find(queries, id, webhook.owner.customer, 'FOR UPDATE')
        const shop = await count<WebhookChangeShop>(queries, selectWebhookChangeShop('$1', now), id)
        return writeWebhook(queries, 'update', decideWebhookChange(storedOf(row), webhook, expected, shop))
      }),
    addWebhookSecret: (id, customer, secret, expected) =>
      database.transaction(async (queries) => {
        const row = await find(queries, id, customer, 'FOR UPDATE')
        return writeWebhook(queries, 'update', decideNewSecret(storedOf(row), secret, expected, row.at))
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
