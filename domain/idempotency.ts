import { DomainError } from './errors.ts'
import type { Idempotency, PlacingAnswer, Shipped } from './store.ts'

/** Milliseconds that an Idempotency-Key is remembered: twice what the documentation promises. */
export const keyRetention = 48 * 60 * 60 * 1000

/** The most expired keys that each new one deletes, so that the table shrinks without a timer. */
export const sweptPerKey = 2

/** The answer that a store remembers under a key: to an order, or to a shipment. */
export type KeyedAnswer = PlacingAnswer | Pick<Shipped, 'shipment'>

export interface Remembered {
  readonly fingerprint: string
  readonly answer: KeyedAnswer
}

/**
 * The first answer again, if the key was used before.
 * @param what the key was sent for. Its scope says the same
 * @throws DomainError `idempotency-key-reused` when the first request was another one
 */
export function replayed<What extends 'order' | 'shipment'>(
  what: What,
  { fingerprint }: Idempotency,
  remembered: Remembered | undefined
): (Extract<KeyedAnswer, Readonly<Record<What, unknown>>> & { readonly replayed: true }) | undefined {
  if (!remembered) return undefined
  if (remembered.fingerprint !== fingerprint)
    throw new DomainError(
      'idempotency-key-reused',
      'This Idempotency-Key was sent before with another request. Send a new key with a new request.'
    )
  const { answer } = remembered
  if (!isFor(what, answer)) throw new Error(`the answer that a key of this scope has is for no ${what}`)
  return { ...answer, replayed: true }
}

function isFor<What extends string>(what: What, answer: KeyedAnswer): answer is Extract<KeyedAnswer, Readonly<Record<What, unknown>>> {
  return what in answer
}
