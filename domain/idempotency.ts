import { DomainError } from './errors.ts'
import type { Shipment } from './shipping.ts'
import type { Idempotency, Placed, PlacingAnswer, Shipped } from './store.ts'

/** Milliseconds that an Idempotency-Key is remembered: twice what the interface promises. */
export const keyRetention = 48 * 60 * 60 * 1000

/** The most expired keys that each new one deletes, so that the table shrinks without a timer. */
export const sweptPerKey = 2

/** The answer that a store remembers under a key. */
export interface RememberedAnswer extends PlacingAnswer {
  readonly fingerprint: string
}

/** The shipment that a store remembers under a key. */
export interface RememberedShipment {
  readonly fingerprint: string
  readonly shipment: Shipment
}

/**
 * The first answer again, if the key was used before.
 * @throws DomainError `idempotency-key-reused` when the first request was another one
 */
export function replayed(idempotency: Idempotency, remembered: RememberedAnswer | undefined): Placed | undefined {
  if (!remembered) return undefined
  checkFingerprint(idempotency, remembered)
  return { order: remembered.order, outcome: remembered.outcome, replayed: true }
}

/** Like `replayed`, for a shipment. */
export function replayedShipment(idempotency: Idempotency, remembered: RememberedShipment | undefined): Shipped | undefined {
  if (!remembered) return undefined
  checkFingerprint(idempotency, remembered)
  return { shipment: remembered.shipment, replayed: true }
}

function checkFingerprint({ fingerprint }: Idempotency, remembered: { readonly fingerprint: string }): void {
  if (remembered.fingerprint !== fingerprint)
    throw new DomainError('idempotency-key-reused', 'This Idempotency-Key was sent before with another request.')
}
