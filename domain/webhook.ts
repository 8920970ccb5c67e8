import type { Caller, Scope } from './caller.ts'
import { DomainError, type Fault } from './errors.ts'
import { type Audience, audienceOf, type EventHead, type EventType, hears, narrow, typesHeard } from './event.ts'

/** The first is the default. */
export const webhookStatuses = ['active', 'disabled'] as const

/** `disabled`: nothing is delivered until its owner makes it active again. */
export type WebhookStatus = (typeof webhookStatuses)[number]

/** The first is the default. The form of a new webhook proposes it, too. */
export const webhookMediaTypes = ['application/json', 'application/xml'] as const
export type WebhookMediaType = (typeof webhookMediaTypes)[number]

/** The settings that the owner of a webhook chooses. */
export interface WebhookDraft {
  readonly url: string
  /** The types of events that are delivered. Empty: all that the owner may see. */
  readonly types: readonly EventType[]
  readonly mediaType: WebhookMediaType
  readonly status: WebhookStatus
}

export interface Webhook extends WebhookDraft {
  readonly id: string
  readonly version: number
  readonly createdAt: number
  readonly modifiedAt: number
  /** Why the shop has disabled it. Absent if its owner has. */
  readonly reason?: string
  /** The events that it delivers. */
  readonly hears: Audience
}

/** The key that made a webhook, or changed it last. The webhook delivers what this key may see, while the key is valid. */
export interface WebhookOwner {
  readonly customer: string
  readonly keyId: string
}

export interface NewWebhook extends WebhookDraft {
  readonly owner: WebhookOwner
  /** The events that it delivers. */
  readonly hears: Audience
}

/** A secret that signs deliveries. */
export interface WebhookSecret {
  readonly secret: string
  /** Milliseconds since the epoch. Absent: it is the newest. */
  readonly expiresAt?: number
}

/** The statuses with which a receiver accepts an event, both included. */
export const acceptedStatuses = { from: 200, to: 299 } as const

export function isDelivered({ status = 0 }: Pick<Attempt, 'status'>): boolean {
  return status >= acceptedStatuses.from && status <= acceptedStatuses.to
}

/** The outcome of one attempt to deliver an event. */
export interface Attempt {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly durationMs: number
  /** The status of the receiver's answer. */
  readonly status?: number
  /** Why there was no answer. */
  readonly failure?: string
  /** How long the receiver asks to wait, in milliseconds. */
  readonly retryAfter?: number
}

/** One line of a webhook's log. */
export interface Delivery extends Omit<Attempt, 'retryAfter'> {
  readonly eventId: string
  /** The type of the event. It is not stored with the delivery: absent when the event is not kept any more. */
  readonly type?: EventType
  /** From 1. An event that its owner had sent again is attempt 0. */
  readonly attempt: number
}

/** Everything that is needed to deliver to a webhook. */
export interface WebhookTarget extends Omit<WebhookDraft, 'status' | 'types'> {
  readonly id: string
  readonly customer: string
  /** The scopes of the owner's key. Undefined: the key was revoked or has expired. */
  readonly scopes: readonly Scope[] | undefined
  readonly keyId: string
  /** The valid secrets, the newest first. */
  readonly secrets: readonly string[]
}

/** A webhook that a dispatcher has claimed: no other one delivers for it until the claim ends. */
export interface ClaimedWebhook extends WebhookTarget {
  /** The version that was claimed. If the owner changes the webhook, the outcome of the claim no longer counts. */
  readonly version: number
  /** The failed attempts to deliver the next event. */
  readonly failures: number
  /** The event to deliver next. */
  readonly next: EventHead
  /** The id of an event that was deleted after a failed attempt. It, and perhaps later ones, are never delivered. */
  readonly lost?: string
}

/** A webhook as a dispatcher has claimed it. */
export type WebhookClaim = Pick<ClaimedWebhook, 'id' | 'version'>

/** The result of a dispatcher's work for a webhook that it has claimed. */
export interface WebhookProgress {
  /** The attempt to log, if there was one. */
  readonly delivery?: Delivery
  /**
   * `delivered`: the event at the position was delivered. `skip`: it was deleted before that. With `yields` the claim ends, although
   * more events may wait. `retry`: the receiver has now failed `failures` times with this event, and gets it again after so many
   * milliseconds. `postpone`: the shop failed, which is no attempt. `disable`: the webhook is disabled for a reason.
   */
  readonly step:
    | { readonly kind: 'delivered' | 'skip'; readonly position: number; readonly yields?: boolean }
    | { readonly kind: 'retry'; readonly in: number; readonly failures: number }
    | { readonly kind: 'postpone'; readonly in: number }
    | { readonly kind: 'disable'; readonly reason: string }
}

/** The deliveries that the active webhooks wait for. */
export interface WebhookBacklog {
  /** The webhooks with an event that has not been delivered. */
  readonly waiting: number
  /** When the oldest of these events happened. Milliseconds since the epoch, like `dueSince`. */
  readonly oldestAt?: number
  /** The earliest time at which one of these events could have been sent. Only webhooks that nobody has claimed count. */
  readonly dueSince?: number
}

/**
 * Milliseconds that a claim lasts. It covers the age up to which a claim is not renewed (`times.renewal`), and then a whole attempt
 * (`timeouts.attempt`). It is not much longer, because the webhooks of a killed replica wait until it ends.
 */
export const claimLasts = 30_000

/** The hours for which the previous secret stays valid beside the newest one. */
export const overlapHours = 24

/** The most webhooks of one customer, and of all customers. Each can have one connection open. */
export const mostWebhooks = { ofCustomer: 20, inAll: 1_000 } as const

/** The most deliveries that a webhook's log keeps. */
export const mostDeliveries = 100

/** The secrets after a new one is added. The one before stays valid for a while, and earlier ones end. */
export function rotated(secrets: readonly WebhookSecret[], secret: string, now: number): readonly WebhookSecret[] {
  const [newest] = secrets
  return newest ? [{ secret }, { secret: newest.secret, expiresAt: now + overlapHours * 3_600_000 }] : [{ secret }]
}

export function validSecrets(secrets: readonly WebhookSecret[], now: number): readonly string[] {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now).map(({ secret }) => secret)
}

/** The same refusal hides another customer's webhook, so that nobody learns that it exists. */
export function webhookNotFound(): DomainError {
  return new DomainError('webhook-not-found', 'There is no such webhook, or it is not yours.')
}

/** @param webhooks the other webhooks of the customer @throws DomainError `too-many-webhooks` */
export function requireRoomOfCustomer(webhooks: number): void {
  if (webhooks >= mostWebhooks.ofCustomer)
    throw new DomainError('too-many-webhooks', `You have ${webhooks} webhooks, which is the limit. Delete one first.`)
}

/** @param active the other active webhooks of all customers @throws DomainError `too-many-webhooks` */
export function requireRoomInAll(active: number): void {
  if (active >= mostWebhooks.inAll)
    throw new DomainError(
      'too-many-webhooks',
      `The shop has ${active} active webhooks, which is the limit. Ask the shop to revoke keys that are no longer used: that ends their webhooks.`
    )
}

/**
 * The events that a webhook of a caller delivers.
 * @throws DomainError `invalid-webhook` when the caller never hears one of the types
 */
export function hearing(types: readonly EventType[], caller: Caller): Audience {
  const all = audienceOf(caller)
  const heard = typesHeard(all)
  const faults = types.flatMap((type, i): readonly Fault[] =>
    heard.includes(type) ? [] : [{ detail: `Your key does not show you events of the type ${type}.`, at: ['type', i + 1] }]
  )
  if (faults.length > 0)
    throw new DomainError('invalid-webhook', 'The webhook asks for events that your key does not show you.', { faults })
  return types.length === 0 ? all : narrow(all, types)
}

/** Whether a caller hears all that a webhook of its customer delivers. Only then it may change the webhook or see its deliveries. */
export function mayManage(caller: Caller, { hears: { types, own } }: Pick<Webhook, 'hears'>): boolean {
  const mine = audienceOf(caller)
  const hearsAll = (type: EventType) => mine.types.includes(type)
  const hearsOwn = (type: EventType) => hearsAll(type) || (mine.own?.customer === own?.customer && mine.own?.types.includes(type))
  return types.every(hearsAll) && (own?.types ?? []).every(hearsOwn)
}

/** Whether a webhook delivers events: one whose key was revoked or has expired delivers nothing. */
export function hasValidKey({ scopes }: Pick<WebhookTarget, 'scopes'>): boolean {
  return scopes !== undefined
}

/** @throws DomainError `unknown-event` when the webhook delivers nothing, because its key is no longer valid */
export function requireValidKey(webhook: Pick<WebhookTarget, 'scopes'>): void {
  if (hasValidKey(webhook)) return
  const detail = 'The key of this webhook was revoked or has expired, so it delivers nothing. Save the webhook again with your key first.'
  throw new DomainError('unknown-event', detail, { faults: [{ detail, at: [] }] })
}

/**
 * @param event undefined if it does not exist, or is not kept any more
 * @returns the event, which the webhook delivers
 * @throws DomainError `unknown-event`
 */
export function requireHeard(audience: Audience, event: EventHead | undefined): EventHead {
  if (!event || !hears(audience, event)) throw unknownEvent()
  return event
}

/** An event that is not kept any more, or that the webhook does not deliver. */
export function unknownEvent(): DomainError {
  const detail = 'There is no event with this id, it is no longer kept, or this webhook does not deliver it.'
  return new DomainError('unknown-event', detail, { faults: [{ detail, at: [] }] })
}
