import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { Scope } from '../../domain/caller.ts'
import { everyone } from '../../domain/event.ts'
import type { Store } from '../../domain/store.ts'
import { outgoingShares } from '../../http/descriptors.ts'
import { Dispatcher } from '../../webhooks/dispatcher.ts'
import type { DispatcherOptions } from '../../webhooks/dispatcher-options.ts'
import { Sender } from '../../webhooks/sender.ts'
import { Targets } from '../../webhooks/targets.ts'
import { build, draft, type Shop } from '../build.ts'
import type { Received } from './receiver.ts'

/** A shop that delivers, because it listens. */
export async function open(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const shop = await build(t, { settings: { WEBHOOK_ALLOW: '127.0.0.1', ...settings } })
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  return shop
}

export async function addWebhook(
  { app, key }: Shop,
  url: string,
  { customer = 'ERP', scopes = ['fulfilment'] as Scope[], more = {} } = {}
) {
  const headers = await key(customer, ...scopes)
  const made = await app.inject({ method: 'POST', url: '/webhooks', headers, payload: { url, ...more } })
  return { ...made.json<{ id: string; secret: string }>(), url: String(made.headers['location']), headers }
}

export const eventIds = (received: readonly Received[]) => received.map(({ headers }) => headers['webhook-id'])
export const createProducts = async ({ store }: Pick<Shop, 'store'>, ...ids: string[]) => {
  for (const id of ids) await store.createProduct(id, draft({ onHand: undefined as never }))
}

/** Waits until the webhook's log has `count` attempts. @returns the first ones, the newest first */
export async function logged({ app }: Shop, { url, headers }: { url: string; headers: Record<string, string> }, count: number) {
  for (;;) {
    const { delivery } = (await app.inject({ url: `${url}/deliveries`, headers: { ...headers, accept: 'application/json' } })).json()
    if (delivery.length >= count) return delivery.slice(-count) as readonly Record<string, string>[]
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Resolves when the webhook is disabled. */
export async function disabled({ store }: Shop, id: string, customer = 'ERP') {
  for (;;) {
    const webhook = await store.webhook(id, customer)
    if (webhook.status === 'disabled') return webhook
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A dispatcher of its own on the shop's store, of which verbs can be replaced, and one webhook. */
export async function dispatching(t: Test, url: string, more: Partial<DispatcherOptions> & { readonly verbs?: Partial<Store> } = {}) {
  const { store } = await build(t)
  const warnings: string[] = []
  const { verbs = {}, ...options } = more
  const sender = new Sender(new Targets(['127.0.0.1']), 8)
  const dispatcher = new Dispatcher({
    store: { ...store, ...verbs },
    sender,
    parallel: outgoingShares(undefined).deliveries,
    write: async ({ id }) => Buffer.from(id),
    warn: (_, message) => warnings.push(message),
    ...options
  })
  t.teardown(async () => {
    await dispatcher.stop()
    sender.close()
  })
  const id = await ownedWebhook(store, 'ERP', url)
  return { store, dispatcher, warnings, id }
}

/** A webhook that hears everything, and its key. */
export async function ownedWebhook(store: Store, customer: string, url: string): Promise<string> {
  const key = await store.createKey({ customer, scopes: ['fulfilment'], hash: randomBytes(32).toString('hex') })
  const owner = { customer, keyId: key.id }
  const wanted = { url, types: [], mediaType: 'application/json', status: 'active', owner, hears: everyone } as const
  return (await store.createWebhook(wanted, 'whsec_AAAA')).id
}
