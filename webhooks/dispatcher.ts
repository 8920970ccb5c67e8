import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventHead, ShopEvent } from '../domain/event.ts'
import type { Store } from '../domain/store.ts'
import type { Attempt, ClaimedWebhook, WebhookProgress, WebhookTarget } from '../domain/webhook.ts'
import { Room } from './room.ts'
import { nextStep } from './schedule.ts'
import type { Sender } from './sender.ts'
import { signatureHeaders } from './signature.ts'

export interface DispatcherParts {
  readonly store: Pick<Store, 'lastEvent' | 'events' | 'claimWebhooks' | 'settleWebhook' | 'releaseWebhooks'>
  readonly sender: Sender
  /** Writes the body of a delivery. */
  readonly write: (event: ShopEvent, webhook: WebhookTarget) => Promise<Uint8Array>
  /** Logs what an operator should know. */
  readonly warn: (details: object, message: string) => void
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
  /** For deliveries in progress when the service stops. */
  grace: 2_000
}

/** The most webhooks that are served at once. Each has one connection at most. */
const parallel = 256

/** Characters of orders in memory at once, for deliveries in progress. */
const roomSize = 32 * 1024 * 1024

/**
 * Delivers the events of the outbox: for each webhook one after the other, for many webhooks at once. Every delivery is made at
 * least once: it is stored as done only after the receiver has answered.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #worker = randomUUID()
  readonly #serving = new Map<string, Promise<void>>()
  readonly #room = new Room(roomSize)
  /** Nothing new begins. */
  readonly #stopping = new AbortController()
  /** What is in progress ends. */
  readonly #cut = new AbortController()
  #running: Promise<void> | undefined
  #seen: string | undefined
  #checkAt = 0
  /** When webhooks that failed here are due again. */
  #retries: readonly number[] = []
  #nextStart = 0

  constructor(parts: DispatcherParts) {
    this.#parts = parts
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Looks at once for webhooks that are due, because one was changed. */
  wake(): void {
    this.#checkAt = 0
  }

  /** Lets deliveries in progress finish for a moment. What was not answered is delivered again by whoever starts next. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const timer = setTimeout(() => this.#cut.abort(), times.grace)
    await this.#running
    await Promise.all(this.#serving.values())
    clearTimeout(timer)
    if (this.#running) await this.#parts.store.releaseWebhooks(this.#worker).catch(() => {})
    await this.#parts.sender.close()
  }

  /** Makes one attempt to deliver an event. @returns undefined if the event is not kept any more */
  attempt(webhook: WebhookTarget, head: EventHead): Promise<Attempt | undefined> {
    return this.#room.with(head.weight, async () => {
      const [event] = await this.#parts.store.events([head])
      if (!event) return undefined
      const at = Date.now()
      const body = await this.#parts.write(event, webhook).catch((error) => {
        this.#parts.warn({ err: error, webhook: webhook.id, event: head.id }, 'an event could not be written for a webhook')
      })
      if (!body) return { at, durationMs: Date.now() - at, failure: 'The shop could not write the event.' }
      const message = { id: head.id, timestamp: Math.floor(Date.now() / 1000), body }
      const headers = { 'content-type': webhook.mediaType, 'user-agent': 'Tradepost', ...signatureHeaders(webhook.secrets, message) }
      return this.#parts.sender.post({ url: webhook.url, headers, body }, this.#cut.signal)
    })
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const isWell = await this.#claim().catch((error) => {
        this.#parts.warn({ err: error }, 'webhooks that are due cannot be read now')
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
    const { store } = this.#parts
    const limit = parallel - this.#serving.size
    const last = (await store.lastEvent())?.id
    if (limit === 0 || (last === this.#seen && Date.now() < this.#checkAt)) return true
    this.#retries = this.#retries.filter((at) => at > Date.now())
    this.#checkAt = Math.min(Date.now() + times.check, ...this.#retries)
    const claimed = await store.claimWebhooks(this.#worker, limit, [...this.#serving.keys()]).catch((error) => {
      this.#checkAt = 0
      throw error
    })
    // When as many as possible were claimed, others may be due as well.
    if (claimed.length < limit) this.#seen = last
    else this.#checkAt = 0
    for (const webhook of claimed) {
      const serving = this.#serve(webhook).finally(() => this.#serving.delete(webhook.id))
      this.#serving.set(webhook.id, serving)
    }
    return true
  }

  /** Delivers to one webhook until nothing is left, or an attempt fails. */
  async #serve(claimed: ClaimedWebhook): Promise<void> {
    for (let webhook: ClaimedWebhook | undefined = claimed; webhook && !this.#stopping.signal.aborted; ) {
      const progress: WebhookProgress | undefined = await this.#deliver(webhook)
      webhook = progress && (await this.#settle(webhook, progress))
      if (!webhook) this.#checkAgain(progress)
    }
  }

  /** A webhook that was left may be due again: by a new event at once, or after a failed attempt. */
  #checkAgain(progress: WebhookProgress | undefined): void {
    const at = progress?.step.kind === 'retry' ? Date.now() + progress.step.in : 0
    if (at > 0) this.#retries = [...this.#retries, at]
    this.#checkAt = Math.min(this.#checkAt, at)
  }

  /** @returns undefined if the service stops */
  async #deliver(webhook: ClaimedWebhook): Promise<WebhookProgress | undefined> {
    const { next, scopes, failures } = webhook
    if (!scopes) return { step: { kind: 'disable', reason: 'The key that made the webhook was revoked or has expired.' } }
    await this.#turn()
    if (this.#stopping.signal.aborted) return undefined
    const attempt = await this.attempt(webhook, next).catch((error) => this.#unread(error, webhook))
    // An attempt that the service ended says nothing about the receiver.
    if (this.#cut.signal.aborted && attempt?.status === undefined) return undefined
    if (!attempt) return { step: { kind: 'delivered', position: next.position } }
    const { retryAfter: _, ...logged } = attempt
    const step = nextStep(failures + 1, attempt)
    return {
      delivery: { eventId: next.id, attempt: failures + 1, ...logged },
      step: step.kind === 'delivered' ? { kind: 'delivered', position: next.position } : step
    }
  }

  /** The database cannot be read: that is no fault of the receiver, but it is tried again like one. */
  #unread(error: unknown, { id, next }: ClaimedWebhook): Attempt {
    this.#parts.warn({ err: error, webhook: id, event: next.id }, 'an event could not be read for a webhook')
    return { at: Date.now(), durationMs: 0, failure: 'The shop could not read the event.' }
  }

  /** Stores what was done. As long as the database cannot be written, nothing more is delivered to the webhook. */
  async #settle({ id }: ClaimedWebhook, progress: WebhookProgress): Promise<ClaimedWebhook | undefined> {
    for (;;) {
      try {
        return await this.#parts.store.settleWebhook(this.#worker, id, progress)
      } catch (error) {
        this.#parts.warn({ err: error, webhook: id }, 'a delivery could not be stored')
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
