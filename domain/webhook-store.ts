import type { EventHead } from './event.ts'
import type { Page, PageQuery } from './page.ts'
import type { Precondition } from './preconditions.ts'
import type {
  ClaimedWebhook,
  Delivery,
  NewWebhook,
  Webhook,
  WebhookBacklog,
  WebhookClaim,
  WebhookOwner,
  WebhookProgress,
  WebhookTarget
} from './webhook.ts'

export interface Claiming {
  /**
   * The webhooks that the worker is serving, which are not claimed again. Other claims of the worker are returned again, because the
   * answers with them were lost.
   */
  readonly serving?: readonly string[]
  /** Only webhooks that hear one of the events after this position are read. Absent: all active ones. */
  readonly since?: number
  /** The most webhooks of one customer that the worker may have, those of `serving` included. */
  readonly perCustomer?: number
}

/** A webhook after the write that makes it. */
export type MadeWebhook = Webhook & {
  /** It was made by an earlier write with the same id. */
  readonly isRepeated?: true
}

/** The verbs of the store about webhooks. `customer` is the caller's: another's webhook is `webhook-not-found`. */
export interface WebhookStore {
  /**
   * The webhook delivers the events after this moment.
   * @param id a UUID. If the customer has the webhook with it already, nothing is made. Absent: a new one
   * @throws `too-many-webhooks`
   */
  createWebhook(webhook: NewWebhook, secret: string, id?: string): Promise<MadeWebhook>
  /** The oldest first. */
  webhooks(customer: string): Promise<readonly Webhook[]>
  /** The number of active webhooks that belong to a key. */
  activeWebhooksOf(owner: WebhookOwner): Promise<number>
  /** @throws `webhook-not-found` */
  webhook(id: string, customer: string): Promise<Webhook>
  /**
   * Replaces the settings and the owner's key. Failed attempts are forgotten, so the next one is made at once.
   * @throws `webhook-not-found`, `precondition-failed`, `too-many-webhooks`
   */
  changeWebhook(id: string, webhook: NewWebhook, expected: Precondition): Promise<Webhook>
  /** Adds a secret. The one before it stays valid for a time. @throws `webhook-not-found`, `precondition-failed` */
  addWebhookSecret(id: string, customer: string, secret: string, expected: Precondition): Promise<Webhook>
  /** @throws `webhook-not-found`, `precondition-failed` */
  deleteWebhook(id: string, customer: string, expected: Precondition): Promise<void>
  /** The newest first. Only the newest of each webhook are kept. @throws `webhook-not-found` */
  deliveries(id: string, customer: string, query: PageQuery): Promise<Page<Delivery>>

  /**
   * Claims webhooks that are due: active ones that nobody has claimed, and for which an event waits. A claim ends by itself if it
   * is not settled for a time.
   * @param worker the unguessable name of a dispatcher. SQLite has one dispatcher, so claims of another end at once
   * @returns first the webhooks of customers with the fewest claims of the worker
   */
  claimWebhooks(worker: string, limit: number, claiming?: Claiming): Promise<readonly ClaimedWebhook[]>
  /** Makes a claim last as long as a new one. @returns false if the claim has ended, or the webhook was changed */
  renewClaim(worker: string, claim: WebhookClaim): Promise<boolean>
  /**
   * Stores the progress, and logs the attempt.
   * @returns the webhook with the event to deliver next. Undefined: the claim has ended, perhaps because no event is left
   */
  settleWebhook(worker: string, claim: WebhookClaim, progress: WebhookProgress): Promise<ClaimedWebhook | undefined>
  /** Ends all claims of a worker. */
  releaseWebhooks(worker: string): Promise<void>
  /** Reads every active webhook. */
  webhookBacklog(): Promise<WebhookBacklog>
  /** Everything that is needed to send an event again. @throws `webhook-not-found`, `unknown-event` */
  redelivery(id: string, customer: string, eventId: string): Promise<{ readonly webhook: WebhookTarget; readonly event: EventHead }>
  /** Logs an event that was sent again. */
  logDelivery(id: string, delivery: Delivery): Promise<void>
}
