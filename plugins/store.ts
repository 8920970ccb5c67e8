import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { mostInline } from '../domain/deferred.ts'
import type { Store } from '../domain/store.ts'
import { FairLimiter, startWaiting } from '../fairness/fair-limiter.ts'
import { unlimited } from '../fairness/quota.ts'
import { nothingStored } from '../http/methods.ts'
import { Problem } from '../http/problem.ts'
import { requireClient } from '../http/require-client.ts'
import { senderName } from '../http/sender-name.ts'

declare module 'fastify' {
  interface FastifyInstance {
    store: Store
    /**
     * Reads what no request asked for. What is large waits for its turn, as what requests read.
     * @param size as of `FastifyRequest.read`
     * @throws Problem `overloaded` when the turn comes too late
     */
    readInTurn<T>(sender: string, size: number, work: StoreWork<T>): Promise<T>
  }
  interface FastifyRequest {
    /**
     * Reads from the store when it is the sender's turn. The work must not wait for another turn.
     * @param size the most that it reads of orders, events or documents, in characters or bytes. Absent: little
     * @throws Problem `overloaded` when the turn comes too late
     */
    read<T>(work: StoreWork<T>, size?: number): Promise<T>
    /** Makes a write that has no queue in the store, in the same way. */
    write<T>(work: StoreWork<T>): Promise<T>
  }
}

type StoreWork<T> = (store: Store) => Promise<T>

/**
 * As many reads as the serving thread has connections to PostgreSQL. One sender leaves half of them to others. On SQLite a read is
 * over before the next one begins, so none waits.
 */
export const reads = { running: { total: 8, perCaller: 4 }, waiting: unlimited } as const

/**
 * Rows of megabytes are received on the serving thread. Those that came together would be one long turn of the event loop: 10 customers who
 * each read orders of 10,000 lines from PostgreSQL held up others for half a second.
 */
const largeReads = { running: { total: 1, perCaller: 1 }, waiting: unlimited } as const

/** These writes wait for each other's locks, and each holds a connection while it waits. */
const writes = { running: { total: 2, perCaller: 1 }, waiting: unlimited } as const

/** Makes the store available to plugins and routes, and closes it with the service. Requests take turns by sender. */
export default fp(
  async function store(app: FastifyInstance, options: { store: Store }) {
    app.decorate('store', options.store)
    app.addHook('onClose', () => options.store.close())

    function inTurn(limiter: FairLimiter): <T>(request: FastifyRequest, work: StoreWork<T>) => Promise<T> {
      /** The sender in whose turn a request was last. */
      const senders = new WeakMap<FastifyRequest, string>()
      return (request, work) => {
        const isTooLate = startWaiting()
        const start = async () => {
          requireClient(request)
          // If the database does not answer, running work fails only after many seconds. Waiting work would fail only then, one after the other.
          if (isTooLate())
            throw new Problem(
              'overloaded',
              `The shop has too much to do right now. ${nothingStored(request.method)}Try again in a few seconds.`
            )
          return work(app.store)
        }
        const sender = senderName(request)
        // A request goes on before others begin: it keeps in memory what it has read until it is answered, and an order can have megabytes.
        if (senders.get(request) === sender) return limiter.goOn(sender, start)
        senders.set(request, sender)
        return limiter.run(sender, start)
      }
    }
    const largeReadLimiter = new FairLimiter(largeReads)
    const [read, readLarge, write] = [inTurn(new FairLimiter(reads)), inTurn(largeReadLimiter), inTurn(new FairLimiter(writes))]
    app.decorate('readInTurn', <T>(sender: string, size: number, work: StoreWork<T>) => {
      if (size <= mostInline) return work(app.store)
      const isTooLate = startWaiting()
      return largeReadLimiter.run(sender, async () => {
        if (isTooLate()) throw new Problem('overloaded', 'Too many large orders are being read right now.')
        return work(app.store)
      })
    })
    app.decorateRequest('read', function <T>(this: FastifyRequest, work: StoreWork<T>, size = 0): Promise<T> {
      return size > mostInline ? readLarge(this, work) : read(this, work)
    })
    app.decorateRequest('write', function <T>(this: FastifyRequest, work: StoreWork<T>): Promise<T> {
      return write(this, work)
    })
  },
  { name: 'store', fastify: '5.x', dependencies: ['problems', 'rate-limit', 'scheduling'] }
)
