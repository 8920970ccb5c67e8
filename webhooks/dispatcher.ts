import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventHead, ShopEvent } from '../domain/event.ts'
import type { Store } from '../domain/store.ts'
import { type Attempt, type ClaimedWebhook, mostWebhooks, type WebhookProgress, type WebhookTarget } from '../domain/webhook.ts'
import { type MemoryLimits, OrderMemory } from './order-memory.ts'
import { nextStep } from './schedule.ts'
import type { Sender } from './sender.ts'
import { signatureHeaders } from './signature.ts'

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
  /** Milliseconds after which a claim is renewed before a POST. */
  readonly renewAfter?: number
}

/** Milliseconds. */
const times = {
  /** Between looks for a new event. Each is one look-up in an index. */
  poll: 250,
  /** Until webhooks that are due by time alone are looked for, if no attempt of this process is due before. */
  check: 5_000,
  /** After an error of the database. */
  recovery: 1_000,
  /** Between the beginnings of two deliveries, so that requests come first: the serving thread makes both. */
  pace: 4,
  /** Until an event that the shop could not send is tried again. */
  postponement: 5_000,
  /** After which a claim is renewed before a POST: with that and the POST it must not last longer than a claim. */
  renewal: 10_000,
  /** For deliveries in progress when the service stops. */
  grace: 2_000
}

/** The most webhooks that are served at once. Each has one connection at most, and one customer has few of them (`mostWebhooks`). */
const parallel = 256

/** The most deliveries that are made to a webhook in one go when as many as possible are served: others may wait. */
const mostPerTurn = 8

/** The orders of deliveries in progress. A slow receiver holds them until it answers. */
const orderMemory: MemoryLimits = { total: 32 * 1024 * 1024, perCustomer: 4 * 1024 * 1024 }

/**
 * Delivers the events of the outbox: for each webhook one after the other, for many webhooks at once. Every delivery is made at
 * least once: it is stored as done only after the receiver has answered.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #worker = randomUUID()
  readonly #serving = new Map<string, Promise<void>>()
  readonly #memory = new OrderMemory(orderMemory)
  /** By webhook: the event that it misses, of which a warning was logged. */
  readonly #losses = new Map<string, string>()
  /** Nothing new begins. */
  readonly #stopping = new AbortController()
  /** Deliveries in progress end. */
  readonly #cut = new AbortController()
  #running: Promise<void> | undefined
  /** The position of the last event that was looked at. */
  #seen: number | undefined
  #checkAt = 0
  /** When webhooks that failed here are due again. */
  #retries: readonly number[] = []
  #nextStart = 0

  constructor(options: DispatcherOptions) {
    // Every delivery in progress listens to both.
    setMaxListeners(0, this.#stopping.signal, this.#cut.signal)
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Looks at once for webhooks that are due, because one was changed. */
  wake(): void {
    this.#checkAt = 0
  }

  /** Lets deliveries in progress finish for a moment. Deliveries without an answer are repeated after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const timer = setTimeout(() => this.#cut.abort(), times.grace)
    await this.#running
    await Promise.all(this.#serving.values())
    clearTimeout(timer)
    if (this.#running) await this.#options.store.releaseWebhooks(this.#worker).catch(() => {})
    await this.#options.sender.close()
  }

  /**
   * Makes one attempt to deliver an event. When the shop itself cannot make it, it throws.
   * @param signal ends what comes before the POST: then its reason is thrown
   * @param mayPost is asked just before the POST
   * @returns `gone` if the event is not kept any more, `kept-back` if it may not be posted
   */
  attempt(
    webhook: WebhookTarget,
    head: EventHead,
    signal: AbortSignal,
    mayPost = async () => true
  ): Promise<Attempt | 'gone' | 'kept-back'> {
    const { store, write, sender } = this.#options
    return this.#memory.with(webhook.customer, head.weight, AbortSignal.any([signal, this.#stopping.signal]), async () => {
      const [event] = await store.events([head])
      if (!event) return 'gone'
      const at = Date.now()
      const body = await write(event, webhook, AbortSignal.any([signal, this.#cut.signal]))
      if (!body) return { at, durationMs: Date.now() - at, failure: 'The shop could not write the event.' }
      if (!(await mayPost())) return 'kept-back'
      const message = { id: head.id, timestamp: Math.floor(Date.now() / 1000), body }
      const headers = { 'content-type': webhook.mediaType, 'user-agent': 'Tradepost', ...signatureHeaders(webhook.secrets, message) }
      return sender.post({ url: webhook.url, headers, body }, this.#cut.signal)
    })
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const isWell = await this.#claim().catch((error) => {
        this.#options.warn({ err: error }, 'webhooks that are due cannot be read now')
        return false
      })
      await this.#pause(isWell ? times.poll : times.recovery)
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {})
  }

  /** Claims the webhooks that are due, if there is a new event or it is time. */
  async #claim(): Promise<true> {
    const { store } = this.#options
    const limit = parallel - this.#serving.size
    const last = (await store.lastEvent())?.position ?? 0
    const isTime = Date.now() >= this.#checkAt
    if (limit === 0 || (last === this.#seen && !isTime)) return true
    if (isTime) this.#planCheck()
    const claimedAt = performance.now()
    // Between two checks, only the webhooks that hear one of the new events are looked at.
    const since = isTime ? undefined : this.#seen
    const claimed = await store.claimWebhooks(this.#worker, limit, [...this.#serving.keys()], since).catch((error) => {
      this.#checkAt = 0
      throw error
    })
    // When as many as possible were claimed, others may be due as well.
    if (claimed.length < limit) this.#seen = last
    else this.#checkAt = 0
    for (const webhook of claimed) {
      const serving = this.#serve(webhook, claimedAt).finally(() => this.#serving.delete(webhook.id))
      this.#serving.set(webhook.id, serving)
    }
    return true
  }

  #planCheck(): void {
    this.#retries = this.#retries.filter((at) => at > Date.now())
    this.#checkAt = Math.min(Date.now() + times.check, ...this.#retries)
  }

  /**
   * Delivers to one webhook until nothing is left, an attempt fails, or others may be waiting.
   * @param claimedAt when its claim began or was renewed, by the monotonic clock
   */
  async #serve(claimed: ClaimedWebhook, claimedAt: number): Promise<void> {
    let heldSince = claimedAt
    let webhook: ClaimedWebhook | undefined = claimed
    for (let count = 1; webhook && !this.#stopping.signal.aborted; count++) {
      const progress: WebhookProgress | undefined = await this.#deliver(webhook, heldSince)
      heldSince = performance.now()
      webhook = progress && (await this.#settle(webhook, this.#isTurnOver(count) ? yielding(progress) : progress))
      if (!webhook) this.#checkAgain(progress)
    }
  }

  #isTurnOver(count: number): boolean {
    return count >= mostPerTurn && this.#serving.size >= parallel
  }

  /** A webhook that was left may be due again: at once, as its owner may have changed it, or after a failed attempt. */
  #checkAgain(progress: WebhookProgress | undefined): void {
    const { step } = progress ?? {}
    if (step?.kind === 'retry' || step?.kind === 'postpone') this.#retries = [...this.#retries, Date.now() + step.in]
    this.#checkAt = 0
  }

  /** @returns undefined if the service stops, or the claim has ended */
  async #deliver(webhook: ClaimedWebhook, heldSince: number): Promise<WebhookProgress | undefined> {
    const { next, scopes, failures } = webhook
    if (!scopes) return { step: { kind: 'disable', reason: 'The key that made the webhook was revoked or has expired.' } }
    this.#warnOfLoss(webhook)
    await this.#turn()
    if (this.#stopping.signal.aborted) return undefined
    const attempt = await this.attempt(webhook, next, this.#cut.signal, () => this.#isHeld(webhook, heldSince)).catch((error) =>
      this.#notAttempted(error, webhook)
    )
    if (!attempt || attempt === 'kept-back') return undefined
    if (attempt === 'gone') return { step: { kind: 'delivered', position: next.position } }
    if ('step' in attempt) return attempt
    // An attempt that the service ended says nothing about the receiver.
    if (this.#cut.signal.aborted && attempt.status === undefined) return undefined
    const { retryAfter: _, ...logged } = attempt
    const step = nextStep(failures + 1, attempt)
    return {
      delivery: { eventId: next.id, attempt: failures + 1, ...logged },
      step: step.kind === 'delivered' ? { kind: 'delivered', position: next.position } : step
    }
  }

  /** The claim must outlast the attempt, so that no other replica makes one meanwhile. */
  async #isHeld({ id, version }: ClaimedWebhook, heldSince: number): Promise<boolean> {
    if (performance.now() - heldSince < (this.#options.renewAfter ?? times.renewal)) return true
    return this.#options.store.renewClaim(this.#worker, { id, version })
  }

  /** The shop failed before it called the receiver: that does not count as an attempt. */
  #notAttempted(error: unknown, { id, next }: ClaimedWebhook): WebhookProgress | undefined {
    if (this.#stopping.signal.aborted) return undefined
    this.#options.warn({ err: error, webhook: id, event: next.id }, 'an event cannot be sent to a webhook now')
    return { step: { kind: 'postpone', in: times.postponement } }
  }

  #warnOfLoss({ id, lost, next }: ClaimedWebhook): void {
    if (lost === undefined || this.#losses.get(id) === lost) return
    if (this.#losses.size >= mostWebhooks.inAll) this.#losses.clear()
    this.#losses.set(id, lost)
    const message = 'a webhook misses events, because they were deleted before they could be delivered (EVENTS_KEEP)'
    this.#options.warn({ webhook: id, event: lost, next: next.id }, message)
  }

  /** Stores what was done. As long as the database cannot be written, nothing more is delivered to the webhook. */
  async #settle({ id, version }: ClaimedWebhook, progress: WebhookProgress): Promise<ClaimedWebhook | undefined> {
    for (;;) {
      try {
        return await this.#options.store.settleWebhook(this.#worker, { id, version }, progress)
      } catch (error) {
        this.#options.warn({ err: error, webhook: id }, 'a delivery could not be stored')
        if (this.#stopping.signal.aborted) return undefined
        await this.#pause(times.recovery)
      }
    }
  }

  /** Deliveries begin one after the other, each webhook in its turn. */
  async #turn(): Promise<void> {
    const now = performance.now()
    const start = Math.max(now, this.#nextStart)
    this.#nextStart = start + times.pace
    if (start > now) await this.#pause(start - now)
  }
}

/** The same progress, but the webhook is left to whoever claims it next. */
function yielding({ step, ...logged }: WebhookProgress): WebhookProgress {
  return { ...logged, step: step.kind === 'delivered' ? { ...step, yields: true } : step }
}
