import { mostWebhooks } from '../domain/webhook.ts'

/**
 * What this process notes of webhooks, by id. It forgets everything when it has notes of as many webhooks as there can be, because
 * those of deleted ones would stay for ever. Forgetting costs little.
 */
export class WebhookNotes<T> extends Map<string, T> {
  override set(id: string, note: T): this {
    if (this.size >= mostWebhooks.inAll && !this.has(id)) this.clear()
    return super.set(id, note)
  }
}
