import { setTimeout as sleep } from 'node:timers/promises'
import { PositionError } from '../domain/errors.ts'
import { type Audience, type EventHead, everyone, hears } from '../domain/event.ts'
import type { Store } from '../domain/store.ts'

/** Milliseconds between two checks for new events, while requests wait. */
const interval = 250

/** The most events of one check. If there are more, all waiting requests are answered. */
const mostEvents = 1_000

/** Milliseconds to wait for the answer to a woken request before the customer's next one is woken. Its client may not be reading. */
const mostForAnswer = 250

/** A request that waits for an event. */
export interface EventWaiter {
  readonly audience: Audience
  /** The sender's name. Customers take turns when their requests are woken. */
  readonly customer: string
  /** As `request.network`. */
  readonly network: string
  readonly wake: () => void
  /** Resolves when the request has its answer. */
  readonly answered: Promise<void>
}

export interface EventWaitersOptions {
  readonly store: Pick<Store, 'lastEvent' | 'eventHeads'>
  /** Does the work when it is the customer's turn. It limits how many requests are answered at once. */
  readonly inTurn: (customer: string, work: () => Promise<void>) => Promise<void>
  /** Calls `start` when it is the address's turn. */
  readonly schedule: (network: string, start: () => void) => void
  readonly isStopping: () => boolean
}

/**
 * The requests that wait for events. They hold nothing of the database: one check for all of them finds the new events, and
 * wakes the requests whose caller hears one of them. The checks go on while woken requests are answered, so that nobody's
 * events wait for the answers of others. The webhook dispatcher checks separately, because it also runs while no request waits.
 */
export class EventWaiters {
  readonly #store: EventWaitersOptions['store']
  readonly #inTurn: EventWaitersOptions['inTurn']
  readonly #schedule: EventWaitersOptions['schedule']
  readonly #isStopping: () => boolean
  readonly #waiters = new Set<EventWaiter>()
  /** The requests that will be woken when it is their turn. */
  readonly #due = new WeakSet<EventWaiter>()
  /** The newest event that the waiting requests know. Undefined while none waits. */
  #seen: Promise<EventHead | undefined> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor({ store, inTurn, schedule, isStopping }: EventWaitersOptions) {
    this.#store = store
    this.#inTurn = inTurn
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
      const waiting = this.#isStopping() ? [...this.#waiters] : await this.#waitersToWake()
      for (const waiter of waiting) this.#wakeInTurn(waiter)
    } catch {
      // The database cannot be reached. The next check tries again. A request whose wait ends first gets the error of its own read.
    }
    this.#timer = undefined
    if (this.#waiters.size > 0) this.#checkSoon()
    else this.#seen = undefined
  }

  async #waitersToWake(): Promise<readonly EventWaiter[]> {
    // The newest event is unknown, because the database was out of reach when the requests came.
    if (!this.#seen) return []
    const before = await this.#seen
    const last = await this.#store.lastEvent()
    if (!last || last.id === before?.id) return []
    const events = await this.#eventsAfter(before)
    this.#seen = Promise.resolve(last)
    if (!events) return [...this.#waiters]
    const kinds = distinctKinds(events)
    return [...this.#waiters].filter((waiter) => !this.#due.has(waiter) && kinds.some((kind) => hears(waiter.audience, kind)))
  }

  /** Returns undefined if there may be more events than one check reads. */
  async #eventsAfter(before: EventHead | undefined): Promise<readonly EventHead[] | undefined> {
    try {
      const after = before === undefined ? {} : { after: before.id }
      const events = await this.#store.eventHeads({ audience: everyone, limit: mostEvents, ...after })
      return events.length < mostEvents ? events : undefined
    } catch (error) {
      // The event `before` was deleted, and perhaps also some that came after it.
      if (error instanceof PositionError) return undefined
      throw error
    }
  }

  #wakeInTurn(waiter: EventWaiter): void {
    if (this.#due.has(waiter)) return
    this.#due.add(waiter)
    void this.#inTurn(waiter.customer, () => this.#wake(waiter))
  }

  /** Wakes a request, unless its wait has ended. Resolves when it has its answer, or after `mostForAnswer`. */
  async #wake(waiter: EventWaiter): Promise<void> {
    if (!this.#waiters.delete(waiter)) return
    const late = new AbortController()
    await Promise.race([this.#answer(waiter), sleep(mostForAnswer, undefined, late).catch(() => {})])
    late.abort()
  }

  /** Wakes a request when it is its address's turn, and waits for its answer. A service that stops does not wait for it. */
  async #answer({ network, wake, answered }: EventWaiter): Promise<void> {
    await new Promise<void>((resolve) =>
      this.#schedule(network, () => {
        wake()
        // The request does first what it can do at once, so that the scheduler knows how much of the turn is left for the next one.
        queueMicrotask(() => process.nextTick(resolve))
      })
    )
    if (!this.#isStopping()) await answered
  }
}

/** One event of each type and customer: nothing else decides who hears an event. */
function distinctKinds(events: readonly EventHead[]): readonly EventHead[] {
  return [...new Map(events.map((event) => [`${event.type} ${event.customer ?? ''}`, event])).values()]
}
