import { DomainError } from './errors.ts'
import type { Idempotency, Placed, PlacingAnswer } from './store.ts'

/** Milliseconds that an Idempotency-Key is remembered: twice what the interface promises. */
export const keyRetention = 48 * 60 * 60 * 1000

/** The answer that a store remembers under a key. */
export interface RememberedAnswer extends PlacingAnswer {
  readonly fingerprint: string
}

/**
 * The first answer again, if the key was used before.
 * @throws DomainError `idempotency-key-reused` when the first request was another one
 */
export function replayed({ fingerprint }: Idempotency, remembered: RememberedAnswer | undefined): Placed | undefined {
  if (!remembered) return undefined
  if (remembered.fingerprint !== fingerprint)
    throw new DomainError('idempotency-key-reused', 'This Idempotency-Key was sent before with another request.')
  return { order: remembered.order, outcome: remembered.outcome, replayed: true }
}
