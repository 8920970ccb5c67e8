import { setTimeout as sleep } from 'node:timers/promises'
import { type Audience, type EventHead, everyone, hears } from '../domain/event.ts'
import type { Store } from '../domain/store.ts'

/** Milliseconds between two checks for new events, while requests wait. */
const interval = 250

/** The most events of one check. If there are more, all waiting requests are answered. */
const mostEvents = 1_000

/** Requests that are answered at once. The next ones follow when these have their answers, or after `interval`. */
const answeredAtOnce = 5

/** A request that waits for an event. */
export interface EventWaiter {
  readonly audience: Audience
  /** As `request.network`. */
  readonly network: string
  readonly wake: () => void
  /** Resolves when the request has its answer. */
  readonly answered: Promise<void>
}

export interface EventWaitersOptions {
  readonly store: Pick<Store, 'lastEvent' | 'eventHeads'>
  /** Calls `start` when it is the address's turn. */
  readonly schedule: (network: string, start: () => void) => void
  readonly isStopping: () => boolean
}

/**
 * The requests that wait for events. They hold nothing of the database: one check for all of them finds the new events, and
 * wakes the requests whose caller hears one of them. The webhook dispatcher checks separately, because a check here waits until
 * requests are answered, and that would delay deliveries.
 */
export class EventWaiters {
  readonly #store: EventWaitersOptions['store']
  readonly #schedule: EventWaitersOptions['schedule']
  readonly #isStopping: () => boolean
  readonly #waiters = new Set<EventWaiter>()
  /** The newest event that the waiting requests know. Undefined while none waits. */
  #seen: Promise<EventHead | undefined> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor({ store, schedule, isStopping }: EventWaitersOptions) {
    this.#store = store
    this.#schedule = schedule
    this.#isStopping = isStopping
  }

  /** Resolves when events that are stored from now on wake the request. */
  async add(waiter: EventWaiter): Promise<void> {
    this.#waiters.add(waiter)
    this.#checkSoon()
    this.#seen ??= this.#store.lastEvent()
    const known = this.#seen
    try {
      await known
    } catch (error) {
      if (this.#seen === known) this.#seen = undefined
      throw error
    }
  }

  /** @returns whether the request was still waiting */
  delete(waiter: EventWaiter): boolean {
    return this.#waiters.delete(waiter)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #checkSoon(): void {
    this.#timer ??= setTimeout(() => void this.#check(), interval).unref()
  }

  async #check(): Promise<void> {
    try {
      if (this.#isStopping()) for (const waiter of [...this.#waiters]) await this.#wakeInTurn(waiter)
      else await this.#wake(await this.#waitersToWake())
    } catch {
      // The database cannot be reached. The next check tries again. A request whose wait ends first gets the error of its own read.
    }
    this.#timer = undefined
    if (this.#waiters.size > 0) this.#checkSoon()
    else this.#seen = undefined
  }

  async #waitersToWake(): Promise<readonly EventWaiter[]> {
    // Undefined while the requests have not begun to wait, because the database is out of reach.
    if (!this.#seen) return []
    const before = await this.#seen
    const last = await this.#store.lastEvent()
    if (!last || last.id === before?.id) return []
    this.#seen = Promise.resolve(last)
    const after = before === undefined ? {} : { after: before.id }
    const events = await this.#store.eventHeads({ audience: everyone, limit: mostEvents, ...after })
    if (events.length === mostEvents) return [...this.#waiters]
    return [...this.#waiters].filter(({ audience }) => events.some((event) => hears(audience, event)))
  }

  /** Wakes waiting requests in small groups, so that their reads do not delay other requests. */
  async #wake(waiting: readonly EventWaiter[]): Promise<void> {
    for (let i = 0; i < waiting.length; i += answeredAtOnce) {
      const group = waiting.slice(i, i + answeredAtOnce)
      for (const waiter of group) await this.#wakeInTurn(waiter)
      if (i + answeredAtOnce >= waiting.length) return
      const late = new AbortController()
      await Promise.race([Promise.all(group.map(({ answered }) => answered)), sleep(interval, undefined, late).catch(() => {})])
      late.abort()
    }
  }

  /**
   * Wakes a request when it is its address's turn. Resolves when the request has done what it can do at once, so that the
   * scheduler knows how much of the turn is left for the next one.
   */
  #wakeInTurn({ network, wake }: EventWaiter): Promise<void> {
    return new Promise((resolve) =>
      this.#schedule(network, () => {
        wake()
        queueMicrotask(() => process.nextTick(resolve))
      })
    )
  }
}
