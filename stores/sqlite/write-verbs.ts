import type { Store } from '../../domain/store.ts'
import type { Command } from '../crossing.ts'

export type WebhookWriteVerb =
  | 'createWebhook'
  | 'changeWebhook'
  | 'addWebhookSecret'
  | 'deleteWebhook'
  | 'claimWebhooks'
  | 'settleWebhook'
  | 'renewClaim'
  | 'releaseWebhooks'
  | 'logDelivery'
  | 'webhookBacklog'

/** The verbs of the store that write. The writer thread performs them. */
export type WriteVerb =
  | 'createProduct'
  | 'putProduct'
  | 'deleteProduct'
  | 'putStock'
  | 'importProducts'
  | 'placeOrder'
  | 'changeOrder'
  | 'setOrderStatus'
  | 'pruneEvents'
  | 'shipOrder'
  | WebhookWriteVerb
  | 'createKey'
  | 'revokeKey'
  | 'touchKeys'
  | 'ping'

/** The verbs as functions that run inside a transaction. */
export type Writes<V extends WriteVerb = WriteVerb> = {
  readonly [Verb in V]: (...args: Parameters<Store[Verb]>) => Awaited<ReturnType<Store[Verb]>>
}

export type WriteCommand = Command<WriteVerb>
