import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { type EventWaiter, EventWaiters } from '../background/event-waiters.ts'
import type { Audience } from '../domain/event.ts'
import { FairLimiter } from '../fairness/fair-limiter.ts'
import { type Limits, Quota, unlimited } from '../fairness/quota.ts'
import { holderOf } from '../http/sender-name.ts'
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
export const mostWaiting: Limits = { total: 2_000, perCaller: 1_000 }

/**
 * Requests that are woken and answered at once. A customer's next one follows when this one has its answer, so that there is
 * always room for another customer's.
 */
const answering: Limits = { total: 5, perCaller: 1 }

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((fulfil) => (resolve = fulfil))
  return { promise, resolve }
}

/** Lets requests wait for events. */
export default fp(
  async function eventWatch(app: FastifyInstance, { isStopping }: { readonly isStopping: () => boolean }) {
    const quota = new Quota(mostWaiting)
    // Only waiting requests can wait to be woken, and `mostWaiting` limits those.
    const turns = new FairLimiter({ running: answering, waiting: unlimited })
    const waiters = new EventWaiters({
      store: app.store,
      inTurn: (customer, work) => turns.run(customer, work),
      schedule: (network, start) => app.schedule(network, start),
      isStopping
    })

    app.decorateReply('watchEvents', async function (this: FastifyReply, audience: Audience): Promise<EventWatch | undefined> {
      const holder = holderOf(this.request)
      if (isStopping()) return undefined
      const exceeded = quota.acquire(holder, 1)
      if (exceeded) return undefined
      const [awake, answered] = [signal(), signal()]
      const waiter: EventWaiter = {
        audience,
        customer: holder.name,
        network: holder.network,
        wake: awake.resolve,
        answered: answered.promise
      }
      // Many waits can end at the same time: because their time is over, or because their clients go away.
      const endInTurn = () => app.schedule(holder.network, awake.resolve)
      const watching = waiters.add(waiter)
      whenAnswered(this.request, this, () => {
        if (waiters.delete(waiter)) endInTurn()
        quota.release(holder, 1)
        answered.resolve()
      })
      await watching
      return {
        async event(seconds) {
          const timeout = setTimeout(endInTurn, seconds * 1000).unref()
          await awake.promise
          clearTimeout(timeout)
          waiters.delete(waiter)
        }
      }
    })

    app.addHook('onClose', async () => waiters.stop())
  },
  { name: 'event-watch', fastify: '5.x', dependencies: ['documents', 'problems', 'scheduling', 'store'] }
)
