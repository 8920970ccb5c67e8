import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { type Audience, type EventHead, everyone, hears } from '../domain/event.ts'
import { type Limits, Quota } from '../fairness/quota.ts'
import { whenAnswered } from '../http/when-answered.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Begins to watch for events. Read the events after this call, so that none is missed.
     * @returns undefined when too many requests wait already; then answer without waiting
     */
    watchEvents(audience: Audience): Promise<EventWatch | undefined>
  }
}

/** A request that can wait for an event. */
export interface EventWatch {
  /** Resolves when the audience may have heard an event since the watch began, when the time is over, or when the service stops. */
  event(seconds: number): Promise<void>
}

/** A waiting request holds its connection and a few KB of memory, but no thread, no transaction and no connection of the database. */
const limits: Limits = { total: 2_000, perCaller: 1_000 }

/**
 * Milliseconds between two looks for new events, while requests wait. The dispatcher of webhooks has looks of its own. A look here waits for
 * answers, and that must delay no delivery; and two look-ups in an index cost less than one watcher that serves both.
 */
const interval = 250

/** The most events of one look. If there are more, all waiting requests are answered. */
const mostEvents = 1_000

/** Requests that are answered at once. The next ones follow when these have their answers, or after `interval`. */
const answeredAtOnce = 5

interface Waiter {
  readonly audience: Audience
  /** As `request.network`. */
  readonly network: string
  readonly wake: () => void
  /** Resolves when the request has its answer. */
  readonly answered: Promise<void>
}

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((fulfil) => (resolve = fulfil))
  return { promise, resolve }
}

/**
 * Lets requests wait for events without holding anything of the database. One look for all waiting requests finds the new
 * events, and answers the requests whose caller hears one of them.
 */
export default fp(
  async function eventWatch(app: FastifyInstance, { isStopping }: { readonly isStopping: () => boolean }) {
    const quota = new Quota(limits)
    const waiters = new Set<Waiter>()
    /** The newest event that the waiting requests know. Undefined while none waits. */
    let seen: Promise<EventHead | undefined> | undefined
    let timer: NodeJS.Timeout | undefined

    function lookSoon(): void {
      timer ??= setTimeout(() => void look(), interval).unref()
    }

    async function look(): Promise<void> {
      try {
        if (isStopping()) for (const waiter of [...waiters]) await wakeInTurn(waiter)
        else await answer(await waitersToAnswer())
      } catch {
        // The database is out of reach or busy. The next look asks again, and a wait that ends before it does is told by its own read.
      }
      timer = undefined
      if (waiters.size > 0) lookSoon()
      else seen = undefined
    }

    async function waitersToAnswer(): Promise<readonly Waiter[]> {
      // Undefined while the requests have not begun to wait, because the database is out of reach.
      if (!seen) return []
      const before = await seen
      const last = await app.store.lastEvent()
      if (!last || last.id === before?.id) return []
      seen = Promise.resolve(last)
      const after = before === undefined ? {} : { after: before.id }
      const events = await app.store.eventHeads({ audience: everyone, limit: mostEvents, ...after })
      if (events.length === mostEvents) return [...waiters]
      return [...waiters].filter(({ audience }) => events.some((event) => hears(audience, event)))
    }

    /**
     * Wakes a request when it is its address's turn. Resolves when the request has done what it can do at once, so that the
     * scheduler knows how much of the turn is left for the next one.
     */
    function wakeInTurn({ network, wake }: Waiter): Promise<void> {
      return new Promise((resolve) =>
        app.schedule(network, () => {
          wake()
          queueMicrotask(() => process.nextTick(resolve))
        })
      )
    }

    /** Many requests may wait for the same event. Their reads must not all be before those of others. */
    async function answer(waiting: readonly Waiter[]): Promise<void> {
      for (let i = 0; i < waiting.length; i += answeredAtOnce) {
        const group = waiting.slice(i, i + answeredAtOnce)
        for (const waiter of group) await wakeInTurn(waiter)
        if (i + answeredAtOnce >= waiting.length) return
        const late = new AbortController()
        await Promise.race([Promise.all(group.map(({ answered }) => answered)), sleep(interval, undefined, late).catch(() => {})])
        late.abort()
      }
    }

    app.decorateReply('watchEvents', async function (this: FastifyReply, audience: Audience): Promise<EventWatch | undefined> {
      const { network } = this.request
      const { name } = this.request.sender()
      if (isStopping() || quota.acquire(name, 1)) return undefined
      const [awake, answered] = [signal(), signal()]
      const waiter: Waiter = { audience, network, wake: awake.resolve, answered: answered.promise }
      // Many waits can end at the same time: because their time is over, or because their clients go away.
      const endInTurn = () => app.schedule(network, awake.resolve)
      waiters.add(waiter)
      whenAnswered(this.request, this, () => {
        if (waiters.delete(waiter)) endInTurn()
        quota.release(name, 1)
        answered.resolve()
      })
      lookSoon()
      seen ??= app.store.lastEvent()
      const known = seen
      try {
        await known
      } catch (error) {
        if (seen === known) seen = undefined
        throw error
      }
      return {
        async event(seconds) {
          const timeout = setTimeout(endInTurn, seconds * 1000).unref()
          await awake.promise
          clearTimeout(timeout)
          waiters.delete(waiter)
        }
      }
    })

    app.addHook('onClose', async () => clearTimeout(timer))
  },
  { name: 'event-watch', fastify: '5.x', dependencies: ['documents', 'problems', 'scheduling', 'store'] }
)
