/** Decides what a dispatcher's progress changes of a webhook. A store calls these functions on a row that it has locked. */

import type { NewEvent } from './event.ts'
import { revised } from './revised.ts'
import type { WebhookClaim, WebhookProgress } from './webhook.ts'
import type { StoredWebhook } from './webhook-writes.ts'

export interface ProgressDecision {
  readonly stored: StoredWebhook
  /** The claim goes on: the dispatcher gets the next event, if there is one. */
  readonly isClaimed: boolean
  readonly events: readonly NewEvent[]
}

/** Milliseconds since the epoch. */
export interface ProgressTimes {
  readonly now: number
  /** The time by the clock of schedules, which is not set. */
  readonly ofSchedule: number
}

/**
 * An outcome for an earlier version of the webhook only ends the claim, so that the owner's change stays as it is.
 * @param claim the webhook as the dispatcher has claimed it
 */
export function decideProgress(
  stored: StoredWebhook,
  claim: WebhookClaim,
  step: WebhookProgress['step'],
  { now, ofSchedule }: ProgressTimes
): ProgressDecision {
  const { webhook, owner, schedule } = stored
  if (webhook.version !== claim.version) return { stored, isClaimed: false, events: [] }
  if ('position' in step) {
    const after = { position: step.position, failures: 0, nextAttemptAt: step.yields ? ofSchedule : schedule.nextAttemptAt }
    return { stored: { ...stored, schedule: after }, isClaimed: !step.yields, events: [] }
  }
  if (step.kind === 'disable') {
    const disabled = { ...webhook, ...revised(webhook, now), status: 'disabled', reason: step.reason } as const
    const { id: subject, version, modifiedAt: at } = disabled
    const event = { type: 'webhook-disabled', subject, version, at, customer: owner.customer } as const
    return { stored: { ...stored, webhook: disabled }, isClaimed: false, events: [event] }
  }
  const { failures } = step.kind === 'retry' ? step : schedule
  return { stored: { ...stored, schedule: { ...schedule, failures, nextAttemptAt: ofSchedule + step.in } }, isClaimed: false, events: [] }
}

/** A webhook that has delivered every event. The next event is delivered at once. */
export function withoutWork(stored: StoredWebhook): StoredWebhook {
  return { ...stored, schedule: { ...stored.schedule, nextAttemptAt: 0 } }
}
