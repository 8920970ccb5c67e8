import type { ClaimedWebhook, WebhookProgress } from '../domain/webhook.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { WebhookNotes } from './webhook-notes.ts'

const outcomeOfStep = { delivered: 'delivered', retry: 'failed', postpone: 'postponed', disable: 'disabled' } as const

/** Counts what becomes of deliveries, and writes a line about each that the operator may have to know of. The URL may be a secret, and is not in it. */
export class DeliveryLog {
  readonly #options: Pick<DispatcherOptions, 'count' | 'warn' | 'info'>
  /** By webhook: the last event that a claim named as lost. */
  readonly #losses = new WebhookNotes<string>()

  constructor(options: Pick<DispatcherOptions, 'count' | 'warn' | 'info'>) {
    this.#options = options
  }

  /**
   * Notes the event that a claim names as lost, because every claim does until a later event is delivered.
   * @returns false if it was noted before
   */
  noteLoss(id: string, event: string): boolean {
    if (this.#losses.get(id) === event) return false
    this.#losses.set(id, event)
    return true
  }

  lost(id: string, event: string): void {
    this.#options.count?.('lost')
    const message = 'events of a webhook were deleted before they could be delivered (EVENTS_KEEP): make sure that its receiver works'
    this.#options.warn({ webhook: id, event }, message)
  }

  settled({ id, customer, next }: ClaimedWebhook, { step, delivery }: WebhookProgress): void {
    if (step.kind === 'skip') {
      this.lost(id, next.id)
      return
    }
    this.#options.count?.(outcomeOfStep[step.kind])
    const { attempt, status, failure } = delivery ?? {}
    const about = { webhook: id, customer, event: next.id, attempt, status, failure }
    if (step.kind === 'disable') this.#options.warn({ ...about, reason: step.reason }, 'a webhook was disabled')
    if (step.kind !== 'retry') return
    const nextAttempt = new Date(Date.now() + step.in).toISOString()
    this.#options.info?.({ ...about, nextAttempt }, 'an event was not delivered to a webhook: it is sent again')
  }
}
