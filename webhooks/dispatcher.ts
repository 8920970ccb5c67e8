import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { nextStep, withoutKey } from '../domain/delivery-attempts.ts'
import type { EventHead } from '../domain/event.ts'
import { type Attempt, type ClaimedWebhook, hasValidKey, type WebhookProgress, type WebhookTarget } from '../domain/webhook.ts'
import { DeliveryLog } from './delivery-log.ts'
import { type DispatcherOptions, orderMemory, times, turn } from './dispatcher-options.ts'
import { OrderMemory } from './order-memory.ts'
import { backOff } from './schedule.ts'
import { Turns } from './turns.ts'
import { WebhookNotes } from './webhook-notes.ts'
import { withSignal } from './with-signal.ts'

/**
 * Delivers the events of the outbox to many webhooks at once, and to each webhook in order. Every event is delivered at least
 * once, because it is stored as delivered only after the receiver has answered.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #worker = randomUUID()
  readonly #serving = new Map<string, Promise<void>>()
  readonly #attempts = new Set<Promise<unknown>>()
  readonly #turns: Turns
  readonly #memory: OrderMemory
  readonly #log: DeliveryLog
  /** By webhook: how often in a row the shop could not send its next event. */
  readonly #postponements = new WebhookNotes<number>()
  /** Aborts when no more deliveries may begin. */
  readonly #stopping = new AbortController()
  /** Aborts the deliveries in progress. */
  readonly #aborting = new AbortController()
  #running: Promise<void> | undefined
  #stopped: Promise<void> | undefined
  /** The position of the last event for which webhooks were claimed. */
  #seen: number | undefined
  /** The time of the next search, by the monotonic clock. All times here that are not stored are by that clock. */
  #checkAt = 0
  /** By webhook that failed in this process: the time at which it is due again. */
  readonly #retries = new WebhookNotes<number>()
  #nextStart = 0

  constructor(options: DispatcherOptions) {
    // Every delivery in progress listens to both, so their number says nothing about a leak.
    setMaxListeners(0, this.#stopping.signal, this.#aborting.signal)
    this.#options = options
    this.#log = new DeliveryLog(options)
    this.#memory = new OrderMemory(options.memory ?? orderMemory)
    this.#turns = new Turns(options.parallel)
  }

  /** The number of webhooks that are served now. */
  get serving(): number {
    return this.#turns.taken
  }

  /** Whether no more deliveries may begin. */
  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Searches at once for webhooks that are due, because one was changed. */
  wake(): void {
    this.#checkAt = 0
  }

  /** Gives deliveries in progress a moment to finish. Those without an answer are repeated after the next start, unless a request asked for them. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    const timer = setTimeout(() => this.#aborting.abort(), times.grace)
    await this.#running
    await Promise.all(this.#serving.values())
    // Attempts that a request asked for are not among those that are served.
    await Promise.allSettled(this.#attempts)
    clearTimeout(timer)
    if (this.#running) await this.#options.store.releaseWebhooks(this.#worker).catch(() => {})
  }

  /**
   * Makes one attempt to deliver an event. Throws if the shop itself cannot make it.
   * @param signal ends the steps before the POST: then its reason is thrown
   * @param mayPost is called just before the POST
   * @returns `gone` if the event was deleted, `kept-back` if `mayPost` is false
   */
  attempt(
    webhook: WebhookTarget,
    head: EventHead,
    signal: AbortSignal,
    mayPost = async () => true
  ): Promise<Attempt | 'gone' | 'kept-back'> {
    const { customer } = webhook
    const { store, write, sender, readEvent = async () => (await store.events([head]))[0] } = this.#options
    const send = async (end: AbortSignal) => {
      const event = await readEvent(head, webhook, end)
      if (!event) return 'gone'
      const [at, begun] = [Date.now(), performance.now()]
      const body = await withSignal([signal, this.#aborting.signal], (end) => write(event, webhook, end))
      if (!body) return { at, durationMs: Math.round(performance.now() - begun), failure: 'The shop could not write the event.' }
      if (!(await mayPost())) return 'kept-back'
      const signing = { id: head.id, timestamp: Math.floor(Date.now() / 1000), secrets: webhook.secrets }
      const headers = { 'content-type': webhook.mediaType, 'user-agent': 'Tradepost' }
      return sender.post({ url: webhook.url, customer, headers, body, signing }, this.#aborting.signal)
    }
    const attempt = withSignal([signal, this.#stopping.signal], (end) => this.#memory.with(customer, head.weight, end, () => send(end)))
    this.#attempts.add(attempt)
    return attempt.finally(() => this.#attempts.delete(attempt))
  }

  async #run(): Promise<void> {
    let hasSucceeded = true
    while (!this.isStopping) {
      const hasWarned = !hasSucceeded
      hasSucceeded = await this.#claim().catch((error) => {
        if (!hasWarned)
          this.#options.warn({ err: error }, 'the webhooks that are due could not be read: trying again, without another warning')
        return false
      })
      await this.#pause(hasSucceeded ? times.poll : times.recovery)
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {})
  }

  /** Claims the webhooks that are due, if there is a new event or a search is due. */
  async #claim(): Promise<true> {
    const last = (await this.#options.store.lastEvent())?.position ?? 0
    const isTime = performance.now() >= this.#checkAt
    if (this.#turns.free === 0 || (last === this.#seen && !isTime)) return true
    if (isTime) this.#planCheck()
    // Between two searches, only webhooks that hear one of the new events are read.
    const hasAll = await this.#claimAll(isTime ? undefined : this.#seen).catch((error) => {
      this.#checkAt = 0
      throw error
    })
    if (hasAll) this.#seen = last
    else this.#checkAt = 0
    return true
  }

  /**
   * Claims a few webhooks at a time, because a customer's share depends on the turns that are free.
   * @returns false if more may be due
   */
  async #claimAll(since: number | undefined): Promise<boolean> {
    const turns = this.#turns
    while (turns.free > 0 && !this.isStopping) {
      const claimedAt = performance.now()
      const { share } = turns
      const claiming = { serving: [...this.#serving.keys()], perCustomer: share, ...(since === undefined ? {} : { since }) }
      const claimed = await this.#options.store.claimWebhooks(this.#worker, share, claiming)
      for (const webhook of claimed) this.#begin(webhook, claimedAt)
      if (claimed.length < share) return true
    }
    return false
  }

  #begin(webhook: ClaimedWebhook, claimedAt: number): void {
    const { id, customer } = webhook
    this.#turns.take(customer)
    const serving = this.#serve(webhook, claimedAt).finally(() => {
      this.#turns.giveBack(customer)
      this.#serving.delete(id)
    })
    this.#serving.set(id, serving)
  }

  #planCheck(): void {
    const now = performance.now()
    this.#checkAt = now + times.check
    for (const [id, at] of this.#retries) {
      if (at > now) this.#checkAt = Math.min(this.#checkAt, at)
      else this.#retries.delete(id)
    }
  }

  /**
   * Delivers to one webhook until nothing is left, an attempt fails, or its turn is over.
   * @param claimedAt when its claim began or was renewed, by the monotonic clock
   */
  async #serve(claimed: ClaimedWebhook, claimedAt: number): Promise<void> {
    const begin = performance.now()
    const { deliveries, milliseconds } = this.#options.turn ?? turn
    let heldSince = claimedAt
    let webhook: ClaimedWebhook | undefined = claimed
    for (let count = 1; webhook && !this.isStopping; count++) {
      const progress: WebhookProgress | undefined = await this.#deliver(webhook, heldSince)
      heldSince = performance.now()
      const isOver: boolean = this.#turns.isCrowded(webhook.customer) && (count >= deliveries || heldSince - begin >= milliseconds)
      webhook = progress && (await this.#settle(webhook, isOver ? yielding(progress) : progress))
      if (!webhook) this.#checkAgain(claimed.id, progress)
    }
  }

  /** Plans a search: a webhook that its owner has changed may be due again at once, and a failed one later. */
  #checkAgain(id: string, progress: WebhookProgress | undefined): void {
    const { step } = progress ?? {}
    if (step?.kind === 'retry' || step?.kind === 'postpone') this.#retries.set(id, performance.now() + step.in)
    this.#checkAt = 0
  }

  /** @returns undefined if the service stops, or the claim has ended */
  async #deliver(webhook: ClaimedWebhook, heldSince: number): Promise<WebhookProgress | undefined> {
    const { next, failures } = webhook
    if (!hasValidKey(webhook)) return { step: withoutKey }
    if (webhook.lost !== undefined && this.#log.noteLoss(webhook.id, webhook.lost)) this.#log.lost(webhook.id, webhook.lost)
    await this.#pace()
    if (this.isStopping) return undefined
    const attempt = await this.attempt(webhook, next, this.#aborting.signal, () => this.#isHeld(webhook, heldSince)).catch((error) =>
      this.#notAttempted(error, webhook)
    )
    if (!attempt || attempt === 'kept-back') return undefined
    if (attempt !== 'gone' && 'step' in attempt) return attempt
    this.#postponements.delete(webhook.id)
    if (attempt === 'gone') {
      // If attempts failed before, the next claim names it as lost, too.
      if (webhook.lost === undefined) this.#log.noteLoss(webhook.id, next.id)
      return { step: { kind: 'skip', position: next.position } }
    }
    // The service ended the attempt, so the receiver has not failed.
    if (this.#aborting.signal.aborted && attempt.status === undefined) return undefined
    const { retryAfter: _, ...logged } = attempt
    const step = nextStep(failures + 1, attempt)
    return {
      delivery: { eventId: next.id, attempt: failures + 1, ...logged },
      step: step.kind === 'delivered' ? { kind: 'delivered', position: next.position } : step
    }
  }

  /** Renews an old claim. It must last longer than the attempt, so that no other replica delivers the event meanwhile. */
  async #isHeld({ id, version }: ClaimedWebhook, heldSince: number): Promise<boolean> {
    if (performance.now() - heldSince < (this.#options.renewAfter ?? times.renewal)) return true
    return this.#options.store.renewClaim(this.#worker, { id, version })
  }

  /** Postpones an event, because the shop failed before it called the receiver. That does not count as an attempt. */
  #notAttempted(error: unknown, { id, next }: ClaimedWebhook): WebhookProgress | undefined {
    if (this.isStopping) return undefined
    this.#options.warn({ err: error, webhook: id, event: next.id }, 'an event could not be sent to a webhook: it is postponed')
    const count = (this.#postponements.get(id) ?? 0) + 1
    this.#postponements.set(id, count)
    return { step: { kind: 'postpone', in: backOff(count, times.postponement) } }
  }

  /** Stores the progress, and tries again while the database fails. Nothing more is delivered to the webhook until then. */
  async #settle(webhook: ClaimedWebhook, progress: WebhookProgress): Promise<ClaimedWebhook | undefined> {
    const { id, version } = webhook
    this.#log.settled(webhook, progress)
    for (let count = 1; ; count++) {
      try {
        return await this.#options.store.settleWebhook(this.#worker, { id, version }, progress)
      } catch (error) {
        this.#options.warn({ err: error, webhook: id }, 'the outcome of a delivery could not be stored: trying again')
        if (this.isStopping) return undefined
        await this.#pause(backOff(count, times.storing))
      }
    }
  }

  /** Waits until a delivery may begin. Deliveries begin one after the other. */
  async #pace(): Promise<void> {
    const now = performance.now()
    const start = Math.max(now, this.#nextStart)
    this.#nextStart = start + times.pace
    if (start > now) await this.#pause(start - now)
  }
}

/** The same progress, but the claim ends after it. */
function yielding({ step, ...logged }: WebhookProgress): WebhookProgress {
  return { ...logged, step: 'position' in step ? { ...step, yields: true } : step }
}
