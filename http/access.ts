import { type Caller, hasScope, type Scope } from '../domain/caller.ts'
import { keyNeeded, unauthenticated } from './credentials.ts'
import { Problem } from './problem.ts'

/** The callers that may use a route. `guests`: also without a key, while GUEST_ORDERS is on. */
export interface RouteAccess {
  readonly anyOf: readonly Scope[]
  readonly guests?: true
}

/** Why a caller may not use a route; undefined if it may. */
export function accessRefusal(caller: Caller, { anyOf, guests }: RouteAccess, guestOrders: boolean): Problem | undefined {
  if (caller.kind === 'guest') return guests && guestOrders ? undefined : keyNeeded()
  if (anyOf.some((scope) => hasScope(caller, scope))) return undefined
  return new Problem('forbidden', `This needs a key with the scope ${anyOf.join(' or ')}; yours has ${caller.scopes.join(', ')}.`)
}

/** Refuses a form that was shown to another customer: the person has signed in or out since. */
export function customerRefusal(caller: Caller, customer: string | undefined): Problem | undefined {
  if (!customer || (caller.kind === 'key' && caller.customer === customer)) return undefined
  return unauthenticated(
    `You are no longer signed in as ${customer}. Sign in again, in another tab if you like, and send the form once more.`
  )
}
