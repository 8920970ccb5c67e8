import { DomainError } from './errors.ts'
import type { Idempotency } from './store.ts'

/** Milliseconds that an Idempotency-Key is remembered: twice what the interface promises. */
export const keyRetention = 48 * 60 * 60 * 1000

/** The most expired keys that each new one deletes, so that the table shrinks without a timer. */
export const sweptPerKey = 2

/** The answer that a store remembers under a key: to an order, or to a shipment. */
export interface Remembered<Answer> {
  readonly fingerprint: string
  readonly answer: Answer
}

/**
 * The first answer again, if the key was used before.
 * @throws DomainError `idempotency-key-reused` when the first request was another one
 */
export function replayed<Answer extends object>(
  { fingerprint }: Idempotency,
  remembered: Remembered<Answer> | undefined
): (Answer & { readonly replayed: true }) | undefined {
  if (!remembered) return undefined
  if (remembered.fingerprint !== fingerprint)
    throw new DomainError(
      'idempotency-key-reused',
      'This Idempotency-Key was sent before with another request. Send a new key with a new request.'
    )
  return { ...remembered.answer, replayed: true }
}
