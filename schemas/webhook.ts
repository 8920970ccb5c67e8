import type { EventType } from '../domain/event.ts'
import { type WebhookDraft, type WebhookMediaType, type WebhookStatus, webhookMediaTypes, webhookStatuses } from '../domain/webhook.ts'
import type { DocumentSchema } from './document.ts'
import { childrenOf, collapse, tokenOf } from './element.ts'
import { loadXsd } from './vocabulary.ts'

export const webhookXsd = loadXsd('webhook')

export const webhook: DocumentSchema<WebhookDraft> = {
  xsd: webhookXsd,
  name: 'webhook',
  roots: ['webhook'],
  identity: 'id',
  forms: true,
  read: (root) => ({
    url: tokenOf(root, 'url') ?? '',
    types: [...new Set(childrenOf(root, 'type').map(({ text = '' }) => collapse(text) as EventType))],
    mediaType: (tokenOf(root, 'media-type') ?? webhookMediaTypes[0]) as WebhookMediaType,
    status: (tokenOf(root, 'status') ?? webhookStatuses[0]) as WebhookStatus
  })
}

/** The document that has an event delivered again. */
export const delivery: DocumentSchema<{ readonly eventId: string }> = {
  xsd: webhookXsd,
  name: 'delivery',
  roots: ['delivery'],
  forms: true,
  read: (root) => ({ eventId: collapse(root.attributes?.['event'] ?? '') })
}
