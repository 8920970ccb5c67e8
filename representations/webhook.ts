import { audienceOf, typesHeard } from '../domain/event.ts'
import { type Delivery, isDelivered, overlapHours, type Webhook, webhookMediaTypes } from '../domain/webhook.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { childType, mostCharacters, rootType } from '../schemas/vocabulary.ts'
import { webhookXsd } from '../schemas/webhook.ts'
import { type Link, linkElement, uris } from './links.ts'
import { type Context, instant, makeRepresentations, pageOf, versionText } from './representation.ts'
import { renderPage } from './views.ts'

/** A refused form: the typed values and the faults. */
export interface RefusedWebhook {
  readonly typed?: Pick<Webhook, 'url'> & { readonly types: readonly string[]; readonly mediaType: string }
  readonly faults?: readonly LocatedFault[]
}

/** A webhook, and its newest secret where that is shown. */
export type ShownWebhook = Webhook & RefusedWebhook & { readonly secret?: string }

export interface WebhookList extends RefusedWebhook {
  readonly webhooks: readonly Webhook[]
  /** A key for the form of a new webhook: it makes a second post harmless. */
  readonly formKey?: string
}

export interface DeliveryPage {
  readonly webhook: Webhook
  readonly deliveries: readonly Delivery[]
  readonly links: readonly Link[]
}

const mostUrlCharacters = mostCharacters(childType(rootType(webhookXsd, 'webhook'), 'url'))

/** The data of the form of a webhook. */
function formOf({ typed, faults = [] }: RefusedWebhook, { caller, notice }: Context) {
  const wrong = faults.filter(({ path }) => path === 'url').map(({ detail }) => detail)
  return { types: typesHeard(audienceOf(caller)), mediaTypes: webhookMediaTypes, mostUrlCharacters, typed, notice, wrong: wrong.join(' ') }
}

function webhookElement(webhook: ShownWebhook, { base }: Pick<Context, 'base'>): Element {
  const uri = uris(base)
  const links: readonly Link[] = [
    { rel: 'self', href: uri.webhook(webhook.id) },
    { rel: 'deliveries', href: uri.deliveries(webhook.id) },
    { rel: 'secret', href: uri.webhookSecret(webhook.id), method: 'POST' },
    { rel: 'collection', href: uri.webhooks }
  ]
  return element('webhook', { id: webhook.id, version: String(webhook.version) }, [
    element('url', {}, webhook.url),
    ...webhook.types.map((type) => element('type', {}, type)),
    element('media-type', {}, webhook.mediaType),
    element('status', {}, webhook.status),
    textElement('reason', webhook.reason),
    textElement('secret', webhook.secret),
    element('created-at', {}, instant(webhook.createdAt)),
    element('modified-at', {}, instant(webhook.modifiedAt)),
    ...links.map(linkElement)
  ])
}

export const webhookRepresentations = makeRepresentations<ShownWebhook>({
  type: rootType(webhookXsd, 'webhook'),
  element: webhookElement,
  html: (webhook, context) => renderPage('webhook', 'Webhook', { webhook, overlapHours, ...formOf(webhook, context) }, context),
  isShownOnce: ({ secret }) => secret !== undefined,
  isDated: true,
  validators: ({ version, modifiedAt }, { caller }) => ({
    version: versionText(version, modifiedAt),
    modifiedAt,
    ...pageOf(caller)
  }),
  schema: 'webhook'
})

export const webhooksRepresentations = makeRepresentations<WebhookList>({
  type: rootType(webhookXsd, 'webhooks'),
  element: ({ webhooks }, context) =>
    element('webhooks', {}, [
      ...webhooks.map((webhook) => webhookElement(webhook, context)),
      linkElement({ rel: 'self', href: uris(context.base).webhooks })
    ]),
  html: (list, context) => renderPage('webhooks', 'Webhooks', { ...list, ...formOf(list, context) }, context),
  schema: 'webhooks'
})

function deliveryElement({ eventId, type, attempt, at, status, failure, durationMs }: Delivery): Element {
  return element(
    'delivery',
    {
      event: eventId,
      type,
      attempt: String(attempt),
      at: new Date(at).toISOString(),
      status: status === undefined ? undefined : String(status),
      'duration-ms': String(durationMs)
    },
    [textElement('failure', failure)]
  )
}

export const deliveriesRepresentations = makeRepresentations<DeliveryPage>({
  type: rootType(webhookXsd, 'deliveries'),
  element: ({ deliveries, links }) => element('deliveries', {}, [...deliveries.map(deliveryElement), ...links.map(linkElement)]),
  html: (page, context) => renderPage('deliveries', 'Deliveries', { ...page, isDelivered }, context),
  links: ({ links }) => links,
  schema: 'deliveries'
})

export const deliveryRepresentations = makeRepresentations<Delivery>({
  type: rootType(webhookXsd, 'delivery'),
  element: deliveryElement,
  schema: 'delivery'
})
