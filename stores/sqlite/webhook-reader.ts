import { webhookNotFound } from '../../domain/webhook.ts'
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
  selectActiveOf,
  type WebhookRow,
  webhookColumns,
  webhookOf
} from '../webhook-rows.ts'
import type { Connection } from './connection.ts'
import type { Sync } from './write-verbs.ts'

export function makeWebhookReader(
  db: Connection
): Sync<'webhooks' | 'activeWebhooksOf' | 'webhook' | 'renewClaim' | 'deliveries' | 'redelivery'> {
  const one = db.prepare<[string, string], WebhookRow & { readonly seq: number }>(
    `SELECT seq, ${webhookColumns} FROM webhook WHERE id = ? AND customer = ?`
  )
  const all = db.prepare<[string], WebhookRow>(`SELECT ${webhookColumns} FROM webhook WHERE customer = ? ORDER BY seq`)
  const active = db.prepare<[string, string], number>(selectActiveOf('?', '?')).pluck()
  const log = db.prepare<[number, number, number], DeliveryRow>(
    `SELECT ${deliveryColumns} FROM delivery d WHERE d.webhook = ? AND d.number < ? ORDER BY d.number DESC LIMIT ? + 1`
  )
  const target = db.prepare<[string, string], RedeliveryRow>(
    `SELECT ${redeliveryColumns} FROM webhook w JOIN api_key k ON k.id = w.key_id WHERE w.id = ? AND w.customer = ?`
  )
  const held = db.prepare<[string, number, string], number>('SELECT 1 FROM webhook WHERE id = ? AND version = ? AND claimed_by = ?').pluck()
  const event = db.prepare<[string], HeadRow>(`SELECT ${headColumns} FROM event e WHERE e.id = ?`)

  function find(id: string, customer: string) {
    const row = one.get(id, customer)
    if (!row) throw webhookNotFound()
    return row
  }

  return {
    webhooks: (customer) => all.all(customer).map(webhookOf),
    activeWebhooksOf: ({ customer, keyId }) => requiredRow(active.get(customer, keyId)),
    webhook: (id, customer) => webhookOf(find(id, customer)),
    // A claim lasts until it is settled, so only a change or another worker, which have been stored, can have ended it.
    renewClaim: (worker, { id, version }) => held.get(id, version, worker) !== undefined,
    deliveries(id, customer, { limit, after }) {
      const { seq } = find(id, customer)
      const rows = log.all(seq, after === undefined ? Number.MAX_SAFE_INTEGER : position(after), limit)
      return toPage(rows, limit, deliveryOf, ({ number }) => String(number))
    },
    redelivery(id, customer, eventId) {
      const row = target.get(id, customer)
      if (!row) throw webhookNotFound()
      return redeliveryOf(row, isEventId(eventId) ? event.get(eventId) : undefined, Date.now())
    }
  }
}
