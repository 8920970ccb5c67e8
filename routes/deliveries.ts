import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Delivery, requireValidKey, unknownEvent } from '../domain/webhook.ts'
import { nextLinks, pagedQuery, startOfPage } from '../http/paging.ts'
import { uris } from '../representations/links.ts'
import { deliveriesRepresentations, deliveryRepresentations } from '../representations/webhook.ts'
import { delivery } from '../schemas/webhook.ts'
import { anyKey, keyHolder } from './access.ts'
import { webhookPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'
import { callCost, managedWebhook } from './webhooks.ts'

const deliveries: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)

  app.get(
    '/webhook/:webhook_id/deliveries',
    {
      schema: { params: webhookPath, querystring: pagedQuery({}) },
      config: { represents: deliveriesRepresentations, caching: 'private', access: anyKey, describes: listDeliveries }
    },
    async (request, reply) => {
      const holder = keyHolder(request)
      const { limit, after } = request.query
      const webhook = await managedWebhook(request, request.params.webhook_id)
      const wanted = { limit, ...startOfPage('deliveries', after) }
      const page = await request.read((store) => store.deliveries(webhook.id, holder.customer, wanted))
      const list = { path: uri.deliveries(webhook.id), sorting: 'deliveries', limit }
      const links = [{ rel: 'self', href: request.url }, ...nextLinks(list, page.next)]
      return reply.represent({ webhook, deliveries: page.items, links })
    }
  )

  app.post(
    '/webhook/:webhook_id/deliveries',
    {
      schema: { params: webhookPath, body: delivery },
      config: { represents: deliveryRepresentations, caching: 'private', access: anyKey, form: { confirms: true }, describes: sendAgain }
    },
    async (request, reply) => {
      const { eventId } = request.body
      const holder = keyHolder(request)
      const { id } = await managedWebhook(request, request.params.webhook_id)
      const { webhook, event } = await request.read((store) => store.redelivery(id, holder.customer, eventId))
      requireValidKey(webhook)
      request.charge(callCost)
      const attempt = await app.webhooks.send(webhook, event, request.sender().signal)
      if (!attempt) throw unknownEvent()
      const { retryAfter: _, ...outcome } = attempt
      const sent: Delivery = { eventId, type: event.type, attempt: 0, ...outcome }
      await noteDelivery(request, id, sent)
      return reply.represent(sent)
    }
  )
}

/** The event has been sent, so the client gets the outcome even if it cannot be logged. After a 503, the client would send it once more. */
async function noteDelivery(request: FastifyRequest, webhookId: string, sent: Delivery): Promise<void> {
  try {
    await request.write((store) => store.logDelivery(webhookId, sent))
  } catch (error) {
    request.log.info({ err: error }, 'an event that was sent again is missing in the log of deliveries')
  }
}

const listDeliveries = {
  id: 'listDeliveries',
  summary: 'The deliveries of a webhook, newest first',
  notes: 'The newest attempts are kept. `attempt` counts from 1; it is 0 for an event that was sent again on request.',
  answers: { 200: 'A page of deliveries.' },
  problems: ['webhook-not-found']
} as const
const sendAgain = {
  id: 'sendAgain',
  summary: 'Send an event to a webhook again',
  notes: 'The event is sent immediately and only once, with the same `webhook-id`, even if the webhook is disabled.',
  answers: { 200: 'The delivery and how it ended.', 303: 'For a form: a redirect to the deliveries.' },
  problems: ['webhook-not-found', 'unknown-event']
} as const

export default fp(deliveries, {
  name: 'deliveries',
  encapsulate: true,
  dependencies: ['representation', 'documents', 'authorization', 'rate-limit', 'webhooks']
})
