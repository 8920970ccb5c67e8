/** The rows of webhooks, which both databases share. Lists are JSON. */

import { isValidKey, type Scope } from '../domain/caller.ts'
import type { Audience, EventHead, EventType } from '../domain/event.ts'
import {
  acceptedStatuses,
  type ClaimedWebhook,
  type Delivery,
  requireHeard,
  validSecrets,
  type Webhook,
  type WebhookBacklog,
  type WebhookSecret,
  type WebhookTarget
} from '../domain/webhook.ts'
import type { StoredWebhook } from '../domain/webhook-writes.ts'
import { type HeadRow, headOf } from './event-rows.ts'
import type { CommonKeyRow } from './rows.ts'

/** The columns of a Webhook. */
export const webhookColumns = 'id, version, customer, url, types, hears, hears_own, media_type, status, reason, created_at, modified_at'

export type WebhookRow = Omit<StoredRow, 'key_id' | 'secrets' | 'position' | 'failures' | 'next_attempt_at'>

function audienceIn({ customer, hears, hears_own }: Pick<WebhookRow, 'customer' | 'hears' | 'hears_own'>): Audience {
  return { types: JSON.parse(hears), own: { customer, types: JSON.parse(hears_own) } }
}

export function webhookOf(row: WebhookRow): Webhook {
  return {
    id: row.id,
    version: row.version,
    url: row.url,
    types: JSON.parse(row.types),
    mediaType: row.media_type,
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
    hears: audienceIn(row)
  }
}

/** SQL: the webhooks that count as active. Those of keys that are not valid (see `isValidKey`) do not. */
const fromActive = (now: string) => `FROM webhook w JOIN api_key k ON k.id = w.key_id
  WHERE w.status = 'active' AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now})`

/** SQL for a WebhookShop. @param customer a parameter @param now an expression: milliseconds since the epoch */
export function selectWebhookShop(customer: string, now: string): string {
  return `SELECT (SELECT count(*) FROM webhook WHERE customer = ${customer}) AS "ofCustomer",
    (SELECT count(*) ${fromActive(now)}) AS "inAll", (SELECT coalesce(max(position), 0) FROM event) AS position, ${now} AS now`
}

/** SQL for a WebhookChangeShop. @param id a parameter @param now an expression: milliseconds since the epoch */
export function selectWebhookChangeShop(id: string, now: string): string {
  return `SELECT count(*) FILTER (WHERE w.id <> ${id}) AS others, count(*) FILTER (WHERE w.id = ${id}) AS own, ${now} AS now ${fromActive(now)}`
}

/** SQL for the number of active webhooks of a key. Its customer's index finds them. Both are parameters. */
export function selectActiveOf(customer: string, key: string): string {
  return `SELECT count(*) AS active FROM webhook WHERE customer = ${customer} AND key_id = ${key} AND status = 'active'`
}

/** The columns of a StoredWebhook. */
export const storedColumns = `${webhookColumns}, key_id, secrets, position, failures, next_attempt_at`

/** The columns that a write of a webhook may change. It sets no others, because SQLite maintains the index of every column that an UPDATE sets. */
export const changingColumns = storedColumns
  .split(', ')
  .filter((column) => !['id', 'customer', 'created_at'].includes(column))
  .join(', ')

export type StoredRow = Readonly<ReturnType<typeof storedRow>>

export function storedOf(row: StoredRow): StoredWebhook {
  const { customer, key_id: keyId, secrets, position, failures, next_attempt_at: nextAttemptAt } = row
  return {
    webhook: webhookOf(row),
    owner: { customer, keyId },
    secrets: JSON.parse(secrets),
    schedule: { position, failures, nextAttemptAt }
  }
}

/** The reverse of `storedOf`. */
export function storedRow({ webhook, owner, secrets, schedule }: StoredWebhook) {
  const { id, version, url, types, mediaType, status, reason = null, createdAt, modifiedAt, hears } = webhook
  return {
    id,
    version,
    customer: owner.customer,
    url,
    types: JSON.stringify(types),
    hears: JSON.stringify(hears.types),
    hears_own: JSON.stringify(hears.own?.types ?? []),
    media_type: mediaType,
    status,
    reason,
    created_at: createdAt,
    modified_at: modifiedAt,
    key_id: owner.keyId,
    secrets: JSON.stringify(secrets),
    position: schedule.position,
    failures: schedule.failures,
    next_attempt_at: schedule.nextAttemptAt
  }
}

const targetColumns = 'w.id, w.customer, w.key_id, w.url, w.media_type, w.secrets, k.scopes AS key_scopes, k.revoked_at, k.expires_at'

interface TargetRow extends Pick<CommonKeyRow, 'expires_at' | 'revoked_at'> {
  readonly id: string
  readonly customer: string
  readonly key_id: string
  readonly url: string
  readonly media_type: Webhook['mediaType']
  readonly secrets: string
  readonly key_scopes: string | readonly Scope[]
}

function targetOf(row: TargetRow, now: number): WebhookTarget {
  const isValid = isValidKey({ expiresAt: row.expires_at, revokedAt: row.revoked_at }, now)
  const scopes: readonly Scope[] = typeof row.key_scopes === 'string' ? JSON.parse(row.key_scopes) : row.key_scopes
  return {
    id: row.id,
    customer: row.customer,
    keyId: row.key_id,
    url: row.url,
    mediaType: row.media_type,
    secrets: validSecrets(JSON.parse(row.secrets) as readonly WebhookSecret[], now),
    scopes: isValid ? scopes : undefined
  }
}

export type RedeliveryRow = TargetRow & Pick<WebhookRow, 'hears' | 'hears_own'>

export const redeliveryColumns = `${targetColumns}, w.hears, w.hears_own`

/** @throws DomainError `unknown-event` when there is no such event, or the webhook does not deliver it */
export function redeliveryOf(row: RedeliveryRow, head: HeadRow | undefined, now: number): { webhook: WebhookTarget; event: EventHead } {
  const event = requireHeard(audienceIn(row), head && headOf(head))
  return { webhook: targetOf(row, now), event }
}

/** The columns of the event to deliver next. */
const nextColumns =
  'e.position AS next_position, e.id AS next_id, e.type AS next_type, e.subject AS next_subject, e.version AS next_version, e.at AS next_at, e.customer AS next_customer, e.weight AS next_weight'

type NextRow = { readonly [Name in keyof HeadRow as `next_${Name}`]: HeadRow[Name] }

/** The columns of a claimed webhook. It has lost an event if the newest attempt failed and its event was deleted. */
export const claimedColumns = `${targetColumns}, w.version, w.failures, ${nextColumns},
  (SELECT d.event FROM delivery d WHERE d.webhook = w.seq AND d.number = (SELECT max(number) FROM delivery WHERE webhook = w.seq AND attempt > 0)
    AND coalesce(d.status, 0) NOT BETWEEN ${acceptedStatuses.from} AND ${acceptedStatuses.to} AND NOT EXISTS (SELECT 1 FROM event WHERE id = d.event)) AS lost`

export type ClaimedRow = TargetRow & NextRow & { readonly version: number; readonly failures: number; readonly lost: string | null }

export function claimedOf(row: ClaimedRow, now: number): ClaimedWebhook {
  const next = headOf({
    position: row.next_position,
    id: row.next_id,
    type: row.next_type,
    subject: row.next_subject,
    version: row.next_version,
    at: row.next_at,
    customer: row.next_customer,
    weight: row.next_weight
  })
  const { version, lost } = row
  // The failures that are stored are those of the lost event.
  const ofNext = lost === null ? { failures: row.failures } : { failures: 0, lost }
  return { ...targetOf(row, now), version, next, ...ofNext }
}

export interface BacklogRow {
  readonly waiting: number
  readonly oldest_at: number | null
  readonly due_since: number | null
}

export function backlogOf(
  { waiting, oldest_at, due_since }: BacklogRow = { waiting: 0, oldest_at: null, due_since: null }
): WebhookBacklog {
  return {
    waiting,
    ...(oldest_at === null ? {} : { oldestAt: oldest_at }),
    ...(due_since === null ? {} : { dueSince: due_since })
  }
}

export const deliveryColumns =
  'd.number, d.event, (SELECT type FROM event WHERE id = d.event) AS type, d.attempt, d.at, d.duration_ms, d.status, d.failure'

export interface DeliveryRow {
  readonly number: number
  readonly event: string
  readonly type: EventType | null
  readonly attempt: number
  readonly at: number
  readonly duration_ms: number
  readonly status: number | null
  readonly failure: string | null
}

export function deliveryOf({ event, type, attempt, at, duration_ms, status, failure }: DeliveryRow): Delivery {
  return {
    eventId: event,
    ...(type === null ? {} : { type }),
    attempt,
    at,
    durationMs: duration_ms,
    ...(status === null ? {} : { status }),
    ...(failure === null ? {} : { failure })
  }
}
