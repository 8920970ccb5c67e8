/** Decides what a dispatcher's progress changes of a webhook. A store calls this on a row that it has locked. */

import type { NewEvent } from './event.ts'
import type { WebhookClaim, WebhookProgress } from './webhook.ts'

export interface WebhookSchedule {
  /** The position of the last event that was delivered. */
  readonly position: number
  /** The failed attempts to deliver the next event. */
  readonly failures: number
  /** Milliseconds since the epoch. */
  readonly nextAttemptAt: number
}

export interface LockedWebhook extends WebhookSchedule, WebhookClaim {
  readonly customer: string
}

export interface ProgressDecision {
  readonly schedule: WebhookSchedule
  /** The claim goes on: the dispatcher gets the next event, if there is one. */
  readonly isClaimed: boolean
  /** The event has the version of the webhook after it is disabled. */
  readonly disabled?: { readonly reason: string; readonly event: NewEvent }
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
    const event = { type: 'webhook-disabled', subject: id, version: version + 1, at: now, customer } as const
    return { ...unchanged, disabled: { reason: step.reason, event } }
  }
  const counted = step.kind === 'retry' ? failures + 1 : failures
  return { schedule: { position, failures: counted, nextAttemptAt: now + step.in }, isClaimed: false }
}
