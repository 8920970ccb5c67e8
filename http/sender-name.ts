import type { Caller } from '../domain/caller.ts'
import type { Holder } from '../fairness/quota.ts'

/** The facts about the sender of a request. */
interface SenderFacts {
  /** Undefined until the request is authenticated. */
  readonly identity: Caller | undefined
  /** The caller whose rate limit counts the request: a key that was valid before, or an address. */
  readonly charged: { readonly caller: string } | undefined
  readonly network: string
}

/**
 * The name of a sender, by which senders take turns: a customer, or an address. Before authentication it is the caller that the
 * rate limit counts, so that a customer does not wait for guests of the same address.
 */
export function senderName({ identity, charged, network }: SenderFacts): string {
  if (identity?.kind === 'key') return `customer ${identity.customer}`
  return !identity && charged ? charged.caller : addressName(network)
}

/** The sender, as quotas count it. */
export function holderOf(request: SenderFacts): Holder {
  return { name: senderName(request), network: request.network }
}

/** The name of a sender if only the network is known. */
export function addressName(network: string): string {
  return `address ${network}`
}
