import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ExceededLimit, type Holder, Quota, type QuotaLimits } from '../fairness/quota.ts'
import { holderOf } from './sender-name.ts'
import { whenAnswered } from './when-answered.ts'

interface Held {
  readonly socket: Socket
  readonly holder: Holder
  readonly release: () => void
}

/**
 * Amounts that requests hold until their answer is sent, within a quota. When the quota of a network or of all callers is reached, a slow
 * client who holds a part of it is cut off, and the part goes to the new request.
 */
export class HeldUntilAnswered {
  readonly #quota: Quota
  readonly #cutOffSlowest: (sockets: Iterable<Socket>) => Socket | undefined
  readonly #held = new Set<Held>()

  /** @param cutOffSlowest as `app.cutOffSlowest` */
  constructor(limits: QuotaLimits, cutOffSlowest: (sockets: Iterable<Socket>) => Socket | undefined) {
    this.#quota = new Quota(limits)
    this.#cutOffSlowest = cutOffSlowest
  }

  /** Lets a request hold an amount, or returns the limit that it would exceed. */
  hold(request: FastifyRequest, reply: FastifyReply, amount: number): ExceededLimit | undefined {
    const holder = holderOf(request)
    for (;;) {
      const exceeded = this.#quota.acquire(holder, amount)
      if (exceeded === undefined) break
      if (exceeded === 'perCaller' || !this.#takeBack(exceeded === 'perNetwork' ? holder.network : undefined)) return exceeded
    }
    const release = () => {
      if (this.#held.delete(held)) this.#quota.release(holder, amount)
    }
    const held: Held = { socket: request.raw.socket, holder, release }
    this.#held.add(held)
    whenAnswered(request, reply, release)
    return undefined
  }

  /** @param network undefined for all @returns whether a slow client was cut off */
  #takeBack(network: string | undefined): boolean {
    const candidates = [...this.#held].filter(({ holder }) => network === undefined || holder.network === network)
    const slowest = this.#cutOffSlowest(candidates.map(({ socket }) => socket))
    // Its connection closes in a later turn of the event loop.
    for (const { socket, release } of candidates) if (socket === slowest) release()
    return slowest !== undefined
  }
}
