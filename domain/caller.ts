import type { Order } from './order.ts'

export type Scope = 'order' | 'catalogue' | 'fulfilment'
export const scopes: readonly Scope[] = ['order', 'catalogue', 'fulfilment']

/** Who asks: a guest, or the holder of an API key. `customer` is the key's name; keys of one name are one customer. */
export type Caller =
  | { readonly kind: 'guest' }
  | { readonly kind: 'key'; readonly keyId: string; readonly customer: string; readonly scopes: readonly Scope[] }

export const guest: Caller = { kind: 'guest' }

export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.kind === 'key' && caller.scopes.includes(scope)
}

/**
 * A guest's order is seen by whoever holds its unguessable URI, a customer's by that customer and by fulfilment.
 */
export function maySee(caller: Caller, order: Pick<Order, 'customer'>): boolean {
  if (order.customer === undefined || hasScope(caller, 'fulfilment')) return true
  return caller.kind === 'key' && caller.customer === order.customer && hasScope(caller, 'order')
}

/**
 * A guest's order is changed and cancelled by whoever holds its URI, a customer's by that customer; with a key, only one
 * that may order. Fulfilment alone sees orders and sets their status.
 */
export function mayChange(caller: Caller, order: Pick<Order, 'customer'>): boolean {
  if (caller.kind === 'guest') return order.customer === undefined
  return hasScope(caller, 'order') && (order.customer === undefined || order.customer === caller.customer)
}

export interface ApiKey {
  readonly id: string
  readonly customer: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt?: number
  readonly lastUsedAt?: number
  readonly revokedAt?: number
}
