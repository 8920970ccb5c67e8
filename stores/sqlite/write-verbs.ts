import type { Store, StoreVerb } from '../../domain/store.ts'
import type { Command } from '../commands.ts'

const webhookWriteVerbs = [
  'createWebhook',
  'changeWebhook',
  'addWebhookSecret',
  'deleteWebhook',
  'claimWebhooks',
  'settleWebhook',
  'releaseWebhooks',
  'logDelivery'
] as const

export type WebhookWriteVerb = (typeof webhookWriteVerbs)[number]

/** The verbs of the store that write. The writer thread performs them. */
export const writeVerbs = [
  'createProduct',
  'putProduct',
  'deleteProduct',
  'putStock',
  'importProducts',
  'placeOrder',
  'changeOrder',
  'setOrderStatus',
  'pruneEvents',
  'shipOrder',
  ...webhookWriteVerbs,
  'createKey',
  'revokeKey',
  'touchKeys',
  'ping'
] as const

export type WriteVerb = (typeof writeVerbs)[number]

/** Verbs of the store as functions that return their result at once. Those that write run inside a transaction. */
export type Sync<V extends StoreVerb> = {
  readonly [Verb in V]: (...args: Parameters<Store[Verb]>) => Awaited<ReturnType<Store[Verb]>>
}

export type Writes<V extends WriteVerb = WriteVerb> = Sync<V>

export type WriteCommand<V extends WriteVerb = WriteVerb> = Command<V>
