import { randomUUID } from 'node:crypto'
import type { Scope } from '../../domain/caller.ts'
import type { EventType } from '../../domain/event.ts'
import type { Store } from '../../domain/store.ts'
import { type ClaimedWebhook, hearing, type NewWebhook, type Webhook } from '../../domain/webhook.ts'

interface Wanted {
  readonly customer?: string
  readonly scopes?: readonly Scope[]
  readonly types?: readonly EventType[]
  readonly expiresAt?: number
}

/** A webhook that can be made, of a key of its own. */
export async function draft(
  store: Store,
  { customer = 'ERP', scopes = ['fulfilment'], types = [], expiresAt }: Wanted = {}
): Promise<NewWebhook> {
  const hash = randomUUID().replaceAll('-', '').repeat(2)
  const key = await store.createKey({ customer, scopes, hash, ...(expiresAt === undefined ? {} : { expiresAt }) })
  return {
    url: 'https://erp.example/hooks',
    types,
    mediaType: 'application/json',
    status: 'active',
    owner: { customer, keyId: key.id },
    hears: hearing(types, { kind: 'key', keyId: key.id, customer, scopes })
  }
}

export async function makeWebhook(store: Store, wanted: Wanted = {}): Promise<Webhook> {
  return store.createWebhook(await draft(store, wanted), 'whsec_one')
}

export const claimOf = (claimed: ClaimedWebhook | undefined) => ({ id: claimed?.id ?? '', version: claimed?.version ?? 0 })
export const attempt = (eventId: string, more: object = {}) => ({ eventId, attempt: 1, at: 5, durationMs: 7, ...more })
