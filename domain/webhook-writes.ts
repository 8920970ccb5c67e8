/** Decides what the writes of its owner make of a webhook. A store calls these functions on rows that it has locked. */

import { checkPrecondition, type Precondition } from './preconditions.ts'
import { revised } from './revised.ts'
import {
  type NewWebhook,
  requireRoomInAll,
  requireRoomOfCustomer,
  rotated,
  type Webhook,
  type WebhookOwner,
  type WebhookSecret
} from './webhook.ts'

interface WebhookSchedule {
  /** The position of the last event that was delivered. */
  readonly position: number
  /** The failed attempts to deliver the next event. */
  readonly failures: number
  /** Milliseconds since the epoch. */
  readonly nextAttemptAt: number
}

/** A webhook with what only the store knows of it. */
export interface StoredWebhook {
  readonly webhook: Webhook
  readonly owner: WebhookOwner
  readonly secrets: readonly WebhookSecret[]
  readonly schedule: WebhookSchedule
}

/** The counts, the position and the time that a new webhook depends on. */
export interface WebhookShop {
  /** The webhooks of its customer, and the active webhooks of all customers. */
  readonly ofCustomer: number
  readonly inAll: number
  /** The position of the newest event. */
  readonly position: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The counts and the time that the change of a webhook depends on. */
export interface WebhookChangeShop {
  /** The other active webhooks of all customers. */
  readonly others: number
  /** 1 if the webhook counts as active before the change, otherwise 0: it is disabled, or its key is no longer valid. */
  readonly own: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A new webhook delivers the events after this moment, the first of them at once. @throws DomainError `too-many-webhooks` */
export function decideNewWebhook(id: string, wanted: NewWebhook, secret: string, shop: WebhookShop): StoredWebhook {
  const { ofCustomer, inAll, position, now } = shop
  requireRoomOfCustomer(ofCustomer)
  if (wanted.status === 'active') requireRoomInAll(inAll)
  const { owner, ...settings } = wanted
  return {
    webhook: { ...settings, id, version: 1, createdAt: now, modifiedAt: now },
    owner,
    secrets: rotated([], secret, now),
    schedule: { position, failures: 0, nextAttemptAt: 0 }
  }
}

/**
 * The settings and the key are replaced. The shop's reason for disabling the webhook is dropped, and failed attempts are
 * forgotten, so that the next one is made at once. A webhook that was active stays so, even if the shop has too many.
 * @throws DomainError `precondition-failed`, `too-many-webhooks`
 */
export function decideWebhookChange(
  before: StoredWebhook,
  wanted: NewWebhook,
  expected: Precondition,
  { others, own, now }: WebhookChangeShop
): StoredWebhook {
  checkPrecondition(expected, before.webhook.version)
  if (wanted.status === 'active' && own === 0) requireRoomInAll(others)
  const { id, createdAt } = before.webhook
  const { owner, ...settings } = wanted
  return {
    webhook: { ...settings, id, createdAt, ...revised(before.webhook, now) },
    owner,
    secrets: before.secrets,
    schedule: { ...before.schedule, failures: 0, nextAttemptAt: 0 }
  }
}

/** The secret before the new one stays valid for a time. @throws DomainError `precondition-failed` */
export function decideNewSecret(before: StoredWebhook, secret: string, expected: Precondition, now: number): StoredWebhook {
  checkPrecondition(expected, before.webhook.version)
  return { ...before, webhook: { ...before.webhook, ...revised(before.webhook, now) }, secrets: rotated(before.secrets, secret, now) }
}
