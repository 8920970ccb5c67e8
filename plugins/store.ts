import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Store } from '../domain/store.ts'
import { FairLimiter, type FairLimits, startWaiting } from '../fairness/fair-limiter.ts'
import { unlimited } from '../fairness/quota.ts'
import { nothingStored } from '../http/methods.ts'
import { Problem } from '../http/problem.ts'
import { requireClient } from '../http/require-client.ts'
import { senderName } from '../http/sender-name.ts'

declare module 'fastify' {
  interface FastifyInstance {
    store: Store
  }
  interface FastifyRequest {
    /**
     * Reads from the store when it is the sender's turn. The work must not wait for another turn.
     * @throws Problem `overloaded` when the turn comes too late
     */
    read: StoreInTurn
    /** Makes a write that has no queue in the store, in the same way. */
    write: StoreInTurn
  }
}

type StoreInTurn = <T>(work: (store: Store) => Promise<T>) => Promise<T>

/**
 * As many reads as the serving thread has connections to PostgreSQL. One sender leaves half of them to others. On SQLite a read is
 * over before the next one begins, so none waits.
 */
const reads = { running: { total: 8, perCaller: 4 }, waiting: unlimited } as const

/** These writes wait for each other's locks, and each holds a connection while it waits. */
const writes = { running: { total: 2, perCaller: 1 }, waiting: unlimited } as const

/** Makes the store available to plugins and routes, and closes it with the service. Requests take turns by sender. */
export default fp(
  async function store(app: FastifyInstance, options: { store: Store }) {
    app.decorate('store', options.store)
    app.addHook('onClose', () => options.store.close())

    function inTurn(limits: FairLimits): StoreInTurn {
      const limiter = new FairLimiter(limits)
      /** The sender in whose turn a request was last. */
      const senders = new WeakMap<FastifyRequest, string>()
      return function (this: FastifyRequest, work) {
        const isTooLate = startWaiting()
        const start = async () => {
          requireClient(this)
          // If the database does not answer, running work fails only after many seconds. Waiting work would fail only then, one after the other.
          if (isTooLate())
            throw new Problem(
              'overloaded',
              `The shop has too much to do right now. ${nothingStored(this.method)}Try again in a few seconds.`
            )
          return work(app.store)
        }
        const sender = senderName(this)
        // A request goes on before others begin: it keeps in memory what it has read until it is answered, and an order can have megabytes.
        if (senders.get(this) === sender) return limiter.goOn(sender, start)
        senders.set(this, sender)
        return limiter.run(sender, start)
      }
    }
    app.decorateRequest('read', inTurn(reads))
    app.decorateRequest('write', inTurn(writes))
  },
  { name: 'store', fastify: '5.x', dependencies: ['problems', 'rate-limit', 'scheduling'] }
)
