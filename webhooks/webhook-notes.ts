import { mostWebhooks } from '../domain/webhook.ts'

/**
 * Notes of this process about webhooks, by id. All are forgotten when there are notes of as many webhooks as there can be, because
 * those of deleted webhooks would stay for ever. Forgetting costs little.
 */
export class WebhookNotes<T> extends Map<string, T> {
  override set(id: string, note: T): this {
    if (this.size >= mostWebhooks.inAll && !this.has(id)) this.clear()
    return super.set(id, note)
  }
}
