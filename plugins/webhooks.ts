import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import type { Payer } from '../documents/payer.ts'
import { mostInline } from '../domain/deferred.ts'
import { DomainError } from '../domain/errors.ts'
import { type EventHead, eventJson, type ShopEvent } from '../domain/event.ts'
import type { Attempt, WebhookTarget } from '../domain/webhook.ts'
import { descriptorLimit, outgoingShares } from '../http/descriptors.ts'
import { Problem } from '../http/problem.ts'
import { deliveryBody } from '../representations/delivery-body.ts'
import { type Context, variantOf } from '../representations/representation.ts'
import { Dispatcher } from '../webhooks/dispatcher.ts'
import { measureDeliveries } from '../webhooks/metrics.ts'
import { Redelivery } from '../webhooks/redelivery.ts'
import { NotSentError } from '../webhooks/sender.ts'
import { SendingThread } from '../webhooks/sending.ts'
import { makeSecret } from '../webhooks/signature.ts'
import { NotCheckedError, UrlChecks } from '../webhooks/url-checks.ts'

declare module 'fastify' {
  interface FastifyInstance {
    webhooks: {
      newSecret(): string
      /** @throws DomainError `invalid-webhook` when the URL may not be called; Problem `overloaded` when it cannot be checked soon */
      checkUrl(url: string, customer: string): Promise<void>
      /** Delivers at once to a webhook that was changed. */
      wake(): void
      /**
       * Sends an event once.
       * @param client ends the wait for memory, and for the document process
       * @returns undefined if the event is not kept any more
       * @throws Problem `overloaded` when it cannot be sent soon
       */
      send(webhook: WebhookTarget, event: EventHead, client: AbortSignal): Promise<Attempt | undefined>
      /** Ends all deliveries: from now on none begins, and those in progress have a moment left. */
      stop(): Promise<void>
    }
  }
}

/** Whether the shop is only busy. An event that is too costly to write is not tried again, because it would cost as much. */
const isOverload = (error: unknown) => error instanceof Problem && error.code === 'overloaded' && error.cause !== 'too-costly'
const notChecked = () => new Problem('overloaded', 'The URL cannot be checked now. Nothing was stored. Try again in a few seconds.')
const notSent = () => new Problem('overloaded', 'The event cannot be sent now. Nothing was sent. Try again in a few seconds.')

/** Delivers events to webhooks while the service listens. */
export default fp(
  async function webhooks(app: FastifyInstance, { config }: { readonly config: Config }) {
    const shares = outgoingShares(descriptorLimit())
    const sender = new SendingThread({ allow: config.WEBHOOK_ALLOW, mostIdle: shares.idle })
    const checks = new UrlChecks(sender, shares.checks)
    const count = measureDeliveries({ registry: app.metrics.registry, store: app.store, serving: () => dispatcher.serving })
    const dispatcher: Dispatcher = new Dispatcher({
      store: app.store,
      readEvent: (head, { customer }, signal) =>
        app.readInTurn(`webhooks of ${customer}`, head.weight, async (store) => {
          signal.throwIfAborted()
          return (await store.events([head]))[0]
        }),
      sender,
      write,
      count,
      warn: (details, message) => app.log.warn(details, message),
      info: (details, message) => app.log.info(details, message),
      parallel: shares.deliveries
    })
    const redelivery = new Redelivery(dispatcher, shares.again)

    /** Large orders are written in the document process, in turn with the customers' own documents. */
    async function write(event: ShopEvent, target: WebhookTarget, signal: AbortSignal): Promise<Uint8Array | undefined> {
      const { id, customer, keyId, scopes = [], mediaType } = target
      const context: Context = {
        base: config.BASE_URL.path,
        currency: config.CURRENCY,
        shop: config.SHOP_NAME,
        caller: { kind: 'key', keyId, customer, scopes },
        self: ''
      }
      const variant = variantOf(deliveryBody, mediaType)
      if (!variant) throw new Error(`no event is written as ${mediaType}`)
      try {
        if (event.weight <= mostInline) return Buffer.from(variant.write(event, context))
        const sender = { name: `webhooks of ${customer}`, group: 'customers', signal } as const
        const payer: Payer = { sender: () => sender, chargeWork: () => {}, workRefusal: () => undefined }
        return await app.documents.write(payer, deliveryBody.name, mediaType, eventJson(event), context)
      } catch (error) {
        if (signal.aborted || isOverload(error)) throw error
        app.log.warn({ err: error, webhook: id, event: event.id }, 'an event cannot be written for a webhook')
        return undefined
      }
    }

    app.decorate('webhooks', {
      newSecret: makeSecret,
      wake: () => dispatcher.wake(),
      async send(webhook, event, client) {
        return redelivery.send(webhook, event, client).catch((error) => {
          throw error instanceof NotSentError || isOverload(error) ? notSent() : error
        })
      },
      async checkUrl(url, customer) {
        const refusal = await checks.refusal(url, customer).catch((error) => {
          throw error instanceof NotCheckedError ? notChecked() : error
        })
        if (refusal === undefined) return
        throw new DomainError('invalid-webhook', `The shop cannot call this URL. ${refusal}`, {
          faults: [{ detail: refusal, at: ['url'] }]
        })
      },
      stop: () => dispatcher.stop()
    })

    app.addHook('onListen', async () => dispatcher.start())
    app.addHook('onClose', async () => {
      await dispatcher.stop()
      await sender.close()
    })
  },
  { name: 'webhooks', fastify: '5.x', dependencies: ['documents', 'observability', 'store'] }
)
