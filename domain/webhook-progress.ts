/** Decides what a dispatcher's progress changes of a webhook. A store calls these functions on a row that it has locked. */

import type { NewEvent } from './event.ts'
import { revised, type Versioned } from './revised.ts'
import type { Webhook, WebhookClaim, WebhookProgress } from './webhook.ts'

export interface WebhookSchedule {
  /** The position of the last event that was delivered. */
  readonly position: number
  /** The failed attempts to deliver the next event. */
  readonly failures: number
  /** Milliseconds since the epoch. */
  readonly nextAttemptAt: number
}

export interface LockedWebhook extends WebhookSchedule, WebhookClaim, Versioned {
  readonly customer: string
}

export interface ProgressDecision {
  readonly schedule: WebhookSchedule
  /** The claim goes on: the dispatcher gets the next event, if there is one. */
  readonly isClaimed: boolean
  /** The webhook is disabled: what changes of it, and the event. */
  readonly disabled?: { readonly change: Pick<Webhook, 'version' | 'modifiedAt' | 'status' | 'reason'>; readonly event: NewEvent }
}

/**
 * An outcome that belongs to an earlier version of the webhook only ends the claim, so that it undoes nothing of the change.
 * @param claim the webhook as the dispatcher has claimed it
 */
export function decideProgress(webhook: LockedWebhook, claim: WebhookClaim, step: WebhookProgress['step'], now: number): ProgressDecision {
  const { id, version, customer, position, failures, nextAttemptAt } = webhook
  const unchanged = { schedule: { position, failures, nextAttemptAt }, isClaimed: false }
  if (version !== claim.version) return unchanged
  if (step.kind === 'delivered') {
    const schedule = { position: step.position, failures: 0, nextAttemptAt: step.yields ? now : nextAttemptAt }
    return { schedule, isClaimed: !step.yields }
  }
  if (step.kind === 'disable') {
    const change = { ...revised(webhook, now), status: 'disabled', reason: step.reason } as const
    const event = { type: 'webhook-disabled', subject: id, version: change.version, at: change.modifiedAt, customer } as const
    return { ...unchanged, disabled: { change, event } }
  }
  const counted = step.kind === 'retry' ? failures + 1 : failures
  return { schedule: { position, failures: counted, nextAttemptAt: now + step.in }, isClaimed: false }
}

/** The schedule of a webhook that has delivered every event. The next event is delivered at once. */
export function withoutWork(schedule: WebhookSchedule): WebhookSchedule {
  return { ...schedule, nextAttemptAt: 0 }
}
