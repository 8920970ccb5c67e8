import { canBecome, isOpen, nextStatuses, type Order, type OrderStatus } from './order.ts'

export type Scope = 'order' | 'catalogue' | 'fulfilment'
export const scopes: readonly Scope[] = ['order', 'catalogue', 'fulfilment']

/** A guest, or the holder of an API key. `customer` is the key's name; keys with the same name belong to one customer. */
export type Caller =
  | { readonly kind: 'guest' }
  | { readonly kind: 'key'; readonly keyId: string; readonly customer: string; readonly scopes: readonly Scope[] }

/** The most characters of a customer's name. */
export const mostCustomerCharacters = 256

export const guest: Caller = { kind: 'guest' }

export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.kind === 'key' && caller.scopes.includes(scope)
}

/**
 * Anybody who has the unguessable URI of a guest's order may see it. A customer's order may be seen with a key of that customer that has
 * the scope `order`, and with any key that has the scope `fulfilment`.
 */
export function maySee(caller: Caller, order: Pick<Order, 'customer'>): boolean {
  if (order.customer === undefined || hasScope(caller, 'fulfilment')) return true
  return caller.kind === 'key' && caller.customer === order.customer && hasScope(caller, 'order')
}

/**
 * Anybody with the URI of a guest's order may change and cancel it. Only the customer may do so with a customer's order. A
 * caller with a key needs the scope `order`. The scope `fulfilment` only sees orders and sets their status.
 */
export function mayChange(caller: Caller, order: Pick<Order, 'customer'>): boolean {
  if (caller.kind === 'guest') return order.customer === undefined
  return hasScope(caller, 'order') && (order.customer === undefined || order.customer === caller.customer)
}

/** Whether a caller may change the lines of an order now. */
export function mayEdit(caller: Caller, order: Pick<Order, 'customer' | 'status'>): boolean {
  return isOpen(order.status) && mayChange(caller, order)
}

/** Whether a caller may ship the order now. */
export function mayShip(caller: Caller, { status }: Pick<Order, 'status'>): boolean {
  return hasScope(caller, 'fulfilment') && canBecome(status, 'shipped')
}

/** Whether a caller may cancel the order now. */
export function mayCancel(caller: Caller, order: Pick<Order, 'customer' | 'status'>): boolean {
  return canBecome(order.status, 'cancelled') && mayChange(caller, order)
}

/** The statuses that a caller may set for the order now. */
export function settableStatuses(caller: Caller, { status }: Pick<Order, 'status'>): readonly OrderStatus[] {
  return hasScope(caller, 'fulfilment') ? nextStatuses(status) : []
}

/** The scopes with which a caller may list orders: its own, or all. */
export const listingScopes: readonly Scope[] = ['order', 'fulfilment']

export function mayListOrders(caller: Caller): boolean {
  return listingScopes.some((scope) => hasScope(caller, scope))
}

/** The only customer whose orders a caller may list; undefined if the caller may list all orders. */
export function onlyListedCustomer(caller: Caller): string | undefined {
  return caller.kind === 'key' && !hasScope(caller, 'fulfilment') ? caller.customer : undefined
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

/** The dates that decide whether a key is valid. A row of a key has null where there is none. */
type KeyDates = { readonly [Name in 'expiresAt' | 'revokedAt']?: number | null }

/** @param now milliseconds since the epoch */
export function isValidKey({ expiresAt, revokedAt }: KeyDates, now: number): boolean {
  return (revokedAt ?? null) === null && (expiresAt ?? now + 1) > now
}
