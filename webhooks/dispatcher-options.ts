/** The settings of a dispatcher. Tests choose their own limits. */

import { mostInline } from '../domain/deferred.ts'
import type { EventHead, ShopEvent } from '../domain/event.ts'
import type { Store } from '../domain/store.ts'
import type { WebhookTarget } from '../domain/webhook.ts'
import type { MemoryLimits } from './order-memory.ts'
import type { Sender } from './sender.ts'

/** The outcome of an attempt. `postponed`: the shop could not make it. `lost`: events were deleted before they were delivered. */
export const outcomes = ['delivered', 'failed', 'disabled', 'postponed', 'lost'] as const
export type DeliveryOutcome = (typeof outcomes)[number]

export interface DispatcherOptions {
  readonly store: Pick<Store, 'lastEvent' | 'events' | 'claimWebhooks' | 'renewClaim' | 'settleWebhook' | 'releaseWebhooks'>
  /** Reads an event, a large one when it is the customer's turn. Absent: at once. @throws the signal's reason, or an error if the turn comes too late */
  readonly readEvent?: (head: EventHead, webhook: WebhookTarget, signal: AbortSignal) => Promise<ShopEvent | undefined>
  readonly sender: Pick<Sender, 'post'>
  /**
   * Writes the body of a delivery. It throws if the shop is too busy now, or if the signal aborts.
   * @returns undefined if the event can never be written
   */
  readonly write: (event: ShopEvent, webhook: WebhookTarget, signal: AbortSignal) => Promise<Uint8Array | undefined>
  readonly warn: (details: object, message: string) => void
  readonly info?: (details: object, message: string) => void
  readonly count?: (outcome: DeliveryOutcome) => void
  /** Instead of `times.renewal`. */
  readonly renewAfter?: number
  /** The most webhooks that are served at once. Each has one connection at most. */
  readonly parallel: number
  readonly turn?: TurnLimits
  readonly memory?: MemoryLimits
}

/** A turn ends at the first of these limits, although more events wait. */
export interface TurnLimits {
  readonly deliveries: number
  /** A delivery that has begun is still made. */
  readonly milliseconds: number
}

/** Milliseconds. */
export const times = {
  /** Between two checks for a new event. Each is one look-up in an index. */
  poll: 250,
  /** Between two searches for webhooks that are due. The search comes sooner if a webhook that failed in this process is due sooner. */
  check: 5_000,
  /** Until the database is read again after an error. */
  recovery: 1_000,
  /** Until an attempt is stored again after an error. It doubles. */
  storing: { first: 1_000, longest: 30_000 },
  /** Between the starts of two deliveries, so that requests come first: the serving thread reads and writes each event. */
  pace: 4,
  /** Until an event that the shop could not send is sent again. It doubles. */
  postponement: { first: 5_000, longest: 300_000 },
  /** The age at which a claim is renewed before a POST. A claim must last for this time and that of the POST. */
  renewal: 10_000,
  /** For deliveries in progress to finish when the service stops. */
  grace: 1_000
}

export const turn: TurnLimits = { deliveries: 8, milliseconds: 1_000 }

/**
 * Limits the memory for the orders of deliveries in progress. An order stays in memory until its receiver answers, and a character can have
 * three bytes. 12 customers whose receivers read nothing took 300 MB with twice as much.
 */
export const orderMemory: MemoryLimits = { total: 16 * 1024 * 1024, perCustomer: 2 * 1024 * 1024, small: mostInline }
