import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { v5 } from 'uuid'
import { requireSameId } from '../domain/identity.ts'
import { hearing, mayManage, type NewWebhook, overlapHours, type Webhook, type WebhookDraft } from '../domain/webhook.ts'
import { Problem } from '../http/problem.ts'
import { uris } from '../representations/links.ts'
import { type ShownWebhook, webhookRepresentations, webhooksRepresentations } from '../representations/webhook.ts'
import { webhook } from '../schemas/webhook.ts'
import { anyKey, type KeyHolder, keyHolder } from './access.ts'
import { webhookPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'
import { webhookPages } from './webhook-pages.ts'

const webhooks: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)
  const one = { represents: webhookRepresentations, caching: 'private', access: anyKey } as const

  app.get(
    '/webhooks',
    { config: { represents: webhooksRepresentations, caching: 'private', access: anyKey, describes: listWebhooks } },
    async (request, reply) => {
      const webhooks = await request.read((store) => store.webhooks(keyHolder(request).customer))
      return reply.represent({ webhooks, formKey: randomUUID() })
    }
  )

  app.post(
    '/webhooks',
    { schema: { body: webhook }, config: { ...one, form: webhookPages.ofList, describes: createWebhook } },
    async (request, reply) => {
      const wanted = ownedBy(keyHolder(request), request.body)
      request.charge(callCost)
      await app.webhooks.checkUrl(wanted.url, wanted.owner.customer)
      const secret = app.webhooks.newSecret()
      const { isRepeated, ...made } = await request.write((store) => store.createWebhook(wanted, secret, idOfForm(request)))
      // The secret is not shown again: a browser that repeats the form goes on to the webhook, where another can be made.
      return reply.created(uri.webhook(made.id), (isRepeated ? made : { ...made, secret }) satisfies ShownWebhook)
    }
  )

  app.get('/webhook/:webhook_id', { schema: { params: webhookPath }, config: { ...one, describes: getWebhook } }, async (request, reply) =>
    reply.represent(await request.read((store) => store.webhook(request.params.webhook_id, keyHolder(request).customer)))
  )

  app.put(
    '/webhook/:webhook_id',
    { schema: { params: webhookPath, body: webhook }, config: { ...one, describes: changeWebhook } },
    async (request, reply) => {
      const holder = keyHolder(request)
      const current = await managedWebhook(request, request.params.webhook_id)
      requireSameId(current.id, request.submission?.named)
      const expected = request.precondition(request.currentOf(current), 'replaces')
      const wanted = ownedBy(holder, request.body)
      // Nothing is sent to a disabled webhook. Its owner can disable it because its host is no longer there.
      if (wanted.status === 'active' || wanted.url !== current.url) {
        request.charge(callCost)
        await app.webhooks.checkUrl(wanted.url, wanted.owner.customer)
      }
      const changed = await request.write((store) => store.changeWebhook(current.id, wanted, expected))
      app.webhooks.wake()
      return reply.represent(changed)
    }
  )

  app.delete(
    '/webhook/:webhook_id',
    { schema: { params: webhookPath }, config: { ...one, describes: deleteWebhook } },
    async (request, reply) => {
      const holder = keyHolder(request)
      const current = await managedWebhook(request, request.params.webhook_id)
      const expected = request.precondition(request.currentOf(current))
      await request.write((store) => store.deleteWebhook(current.id, holder.customer, expected))
      return reply.deleted(uri.webhooks)
    }
  )

  // A browser's form can send neither PUT nor DELETE.
  app.post(
    '/webhook/:webhook_id',
    { schema: { params: webhookPath }, config: { ...one, form: webhookPages.ofOne, describes: postWebhook } },
    app.performs({ PUT: { body: webhook }, DELETE: {} })
  )

  app.post(
    '/webhook/:webhook_id/secret',
    { schema: { params: webhookPath }, config: { ...one, checksConditions: true, form: webhookPages.ofSecret, describes: newSecret } },
    async (request, reply) => {
      const holder = keyHolder(request)
      const current = await managedWebhook(request, request.params.webhook_id)
      const expected = request.precondition(request.currentOf(current, uri.webhook(current.id)))
      const secret = app.webhooks.newSecret()
      const changed = await request.write((store) => store.addWebhookSecret(current.id, holder.customer, secret, expected))
      return reply.represent({ ...changed, secret } satisfies ShownWebhook, uri.webhook(changed.id))
    }
  )
}

/**
 * The number of requests that a request counts as besides itself if the shop then calls a receiver: the call keeps a connection for up to
 * ten seconds, and the receiver decides how much work TLS is.
 */
export const callCost = 5

/**
 * The webhook of a request that changes it, or reads what it delivered.
 * @throws DomainError `webhook-not-found`
 * @throws Problem `forbidden` when the key does not see all that the webhook delivers
 */
export async function managedWebhook(request: FastifyRequest, id: string): Promise<Webhook> {
  const holder = keyHolder(request)
  const found = await request.read((store) => store.webhook(id, holder.customer))
  if (mayManage(holder, found)) return found
  throw new Problem(
    'forbidden',
    'This webhook delivers events that your key does not show you. Use a key with the scopes of the one that made it.'
  )
}

/**
 * The id of the webhook that a page's form makes. It comes from the form's key and content, so reloading the answer makes no second
 * webhook, and a form that was changed after the browser went back makes another. Undefined: the request is not such a form.
 */
function idOfForm(request: FastifyRequest): string | undefined {
  const key = request.form()?.get('_idempotency-key')
  const { customer, keyId } = keyHolder(request)
  return key ? v5(JSON.stringify([customer, keyId, key, request.submission?.digest ?? '']), formNamespace) : undefined
}

/** The namespace of these ids (RFC 9562 section 5.5). It is arbitrary. */
const formNamespace = '0d1f6b8e-6c0e-4f0b-9a51-7d7c2f3f4b60'

/** @throws DomainError `invalid-webhook` */
function ownedBy(caller: KeyHolder, draft: WebhookDraft): NewWebhook {
  return { ...draft, owner: { customer: caller.customer, keyId: caller.keyId }, hears: hearing(draft.types, caller) }
}

const listWebhooks = { id: 'listWebhooks', summary: 'Your webhooks', answers: { 200: 'The webhooks, without their secrets.' } } as const
const createWebhook = {
  id: 'createWebhook',
  summary: 'Have events delivered to a URL',
  notes:
    'The shop posts each event after this moment that the key may see, in order, signed as Standard Webhooks 1.0.0 says. `webhook-signature` has `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, where id and timestamp are those of `webhook-id` and `webhook-timestamp`. The key of the HMAC is what is base64 in the secret, after `whsec_`, decoded. While two secrets are valid, there are two signatures with a space between them. The answer has the secret, which is shown only here.',
  answers: { 201: 'The webhook with its secret.' },
  problems: ['invalid-webhook', 'too-many-webhooks'],
  shownOnce: true
} as const
const getWebhook = { id: 'getWebhook', summary: 'One webhook', answers: { 200: 'The webhook.' }, problems: ['webhook-not-found'] } as const
const changeWebhook = {
  id: 'changeWebhook',
  summary: 'Change a webhook, or make it active again',
  notes:
    'The webhook then belongs to the key of this request. It continues with the first event that was not delivered, and repeats a failed attempt at once. The URL is checked if it is new or the webhook is active.',
  answers: { 200: 'The webhook as it is now.' },
  problems: ['webhook-not-found', 'invalid-webhook', 'too-many-webhooks', 'identity-mismatch']
} as const
const deleteWebhook = {
  id: 'deleteWebhook',
  summary: 'Delete a webhook',
  answers: { 204: 'It is deleted.' },
  problems: ['webhook-not-found']
} as const
const postWebhook = {
  id: 'postWebhookForm',
  summary: 'Change or delete a webhook, from its page',
  answers: { 303: 'To the webhook, or to the list.' },
  problems: ['webhook-not-found', 'invalid-webhook', 'too-many-webhooks']
} as const
const newSecret = {
  id: 'newWebhookSecret',
  summary: 'Make a new secret',
  notes: `For ${overlapHours} hours deliveries are signed with the new secret and with the previous one. Older secrets stop working at once.`,
  answers: { 200: 'The webhook with its new secret.' },
  problems: ['webhook-not-found'],
  shownOnce: true,
  reads: {
    required: false,
    fields: { '_if-match': "The webhook's ETag, from its page. A program posts without a body and may send `If-Match`." }
  }
} as const

export default fp(webhooks, {
  name: 'webhook-routes',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'authorization', 'form-pages', 'webhooks']
})
