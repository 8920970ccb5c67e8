import type { EventHead } from './event.ts'
import type { Page, PageQuery, Precondition } from './store.ts'
import type {
  ClaimedWebhook,
  Delivery,
  NewWebhook,
  Webhook,
  WebhookBacklog,
  WebhookClaim,
  WebhookProgress,
  WebhookTarget
} from './webhook.ts'

export interface Claiming {
  /** The webhooks that the worker has claimed and not settled. A claim of which it never heard ends. */
  readonly serving?: readonly string[]
  /** Only webhooks that hear one of the events after this position. Without it each active webhook is looked at. */
  readonly since?: number
  /** The most webhooks of a customer that the worker has then, with those of `serving`. */
  readonly perCustomer?: number
}

/** The verbs of the store about webhooks. `customer` is who asks: another's webhook is `webhook-not-found`. */
export interface WebhookStore {
  /** It delivers the events after this moment. @throws `too-many-webhooks` */
  createWebhook(webhook: NewWebhook, secret: string): Promise<Webhook>
  /** The oldest first. */
  webhooks(customer: string): Promise<readonly Webhook[]>
  /** @throws `webhook-not-found` */
  webhook(id: string, customer: string): Promise<Webhook>
  /**
   * Replaces what the owner decides, and who the owner's key is. Failed attempts are forgotten: the next is made at once.
   * @throws `webhook-not-found`, `precondition-failed`
   */
  changeWebhook(id: string, webhook: NewWebhook, expected: Precondition): Promise<Webhook>
  /** Adds a secret. The one before it signs too, for a time. @throws `webhook-not-found` */
  addWebhookSecret(id: string, customer: string, secret: string): Promise<Webhook>
  /** @throws `webhook-not-found`, `precondition-failed` */
  deleteWebhook(id: string, customer: string, expected: Precondition): Promise<void>
  /** The newest first. Only the newest of each webhook are kept. @throws `webhook-not-found` */
  deliveries(id: string, customer: string, query: PageQuery): Promise<Page<Delivery>>

  /**
   * Claims webhooks that are due: they are active, an event waits for them, and nobody has claimed them. A claim ends when its
   * holder has not settled it for a time.
   * @param worker the unguessable name of a dispatcher. On SQLite there is one, so another's claims end at once
   * @returns those of customers that have the fewest claims of the worker first
   */
  claimWebhooks(worker: string, limit: number, claiming?: Claiming): Promise<readonly ClaimedWebhook[]>
  /** Makes a claim last as long as a new one. @returns false when it has ended, or the webhook was changed */
  renewClaim(worker: string, claim: WebhookClaim): Promise<boolean>
  /**
   * Stores what was done, and logs the attempt. A webhook that is disabled makes an event. If the webhook was changed since it was
   * claimed, the attempt is only logged, so that it undoes nothing of the change.
   * @returns the webhook with the event to deliver next; undefined when the claim has ended, also because nothing is left to do
   */
  settleWebhook(worker: string, claim: WebhookClaim, progress: WebhookProgress): Promise<ClaimedWebhook | undefined>
  /** Ends all claims of a worker. */
  releaseWebhooks(worker: string): Promise<void>
  /** What the active webhooks wait for. It looks at each of them. */
  webhookBacklog(): Promise<WebhookBacklog>
  /** Everything that is needed to send an event again. @throws `webhook-not-found`, `unknown-event` */
  redelivery(id: string, customer: string, eventId: string): Promise<{ readonly webhook: WebhookTarget; readonly event: EventHead }>
  /** Logs an event that was sent again. */
  logDelivery(id: string, delivery: Delivery): Promise<void>
}
