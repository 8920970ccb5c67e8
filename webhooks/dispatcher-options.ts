/** The settings of a dispatcher. Tests choose their own limits. */

import { mostInline } from '../domain/deferred.ts'
import type { ShopEvent } from '../domain/event.ts'
import type { Store } from '../domain/store.ts'
import type { WebhookTarget } from '../domain/webhook.ts'
import type { MemoryLimits } from './order-memory.ts'
import type { Sender } from './sender.ts'

/** The end of an attempt. `postponed`: the shop could not make it. `lost`: events were deleted before they could be delivered. */
export type Outcome = 'delivered' | 'failed' | 'disabled' | 'postponed' | 'lost'

export interface DispatcherOptions {
  readonly store: Pick<Store, 'lastEvent' | 'events' | 'claimWebhooks' | 'renewClaim' | 'settleWebhook' | 'releaseWebhooks'>
  readonly sender: Sender
  /**
   * Writes the body of a delivery. It throws when the shop has no time for that now, and when the signal aborts.
   * @returns undefined if it can never be written
   */
  readonly write: (event: ShopEvent, webhook: WebhookTarget, signal: AbortSignal) => Promise<Uint8Array | undefined>
  /** Logs what an operator should know. */
  readonly warn: (details: object, message: string) => void
  /** Counts what the dispatcher does. */
  readonly count?: (outcome: Outcome) => void
  /** Milliseconds after which a claim is renewed before a POST. */
  readonly renewAfter?: number
  /** The most webhooks that are served at once. */
  readonly parallel?: number
  readonly turn?: TurnLimits
  readonly memory?: MemoryLimits
}

/** When a turn ends although more events wait. */
export interface TurnLimits {
  readonly deliveries: number
  /** A delivery that has begun by then is still made. */
  readonly milliseconds: number
}

/** Milliseconds. */
export const times = {
  /** Between looks for a new event. Each is one look-up in an index. */
  poll: 250,
  /** Until webhooks that are due by time alone are looked for, if no attempt of this process is due before. */
  check: 5_000,
  /** After an error when the database is read. */
  recovery: 1_000,
  /** After an error when an attempt is stored. It doubles. */
  storing: { first: 1_000, longest: 30_000 },
  /** Between the beginnings of two deliveries, so that requests come first: the serving thread makes both. */
  pace: 4,
  /** Until an event that the shop could not send is tried again. It doubles. */
  postponement: { first: 5_000, longest: 300_000 },
  /** After which a claim is renewed before a POST: with that and the POST it must not last longer than a claim. */
  renewal: 10_000,
  /** For deliveries in progress when the service stops. */
  grace: 2_000
}

/** The most webhooks that are served at once. Each has one connection at most. */
export const parallel = 256

/** The most that a webhook gets in one go while others may wait. */
export const turn: TurnLimits = { deliveries: 8, milliseconds: 1_000 }

/** The orders of deliveries in progress. A slow receiver holds them until it answers. */
export const orderMemory: MemoryLimits = { total: 32 * 1024 * 1024, perCustomer: 4 * 1024 * 1024, small: mostInline }
