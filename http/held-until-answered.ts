import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ExceededLimit, type Holder, Quota, type QuotaLimits } from '../fairness/quota.ts'
import { holderOf } from './sender-name.ts'
import { cutOff } from './socket-handle.ts'
import { whenAnswered } from './when-answered.ts'

interface Held {
  readonly holder: Holder
  readonly amount: number
  readonly release: () => void
}

/**
 * Amounts that requests hold until their answer is sent, within a quota. When the quota of a network or of all callers is used up, slow
 * clients are cut off if what they hold is enough for the new request. A caller that has little loses nothing.
 */
export class HeldUntilAnswered {
  readonly #quota: Quota
  readonly #small: number
  readonly #slowClients: () => readonly Socket[]
  readonly #held = new Map<Socket, Set<Held>>()

  /** @param slowClients as `app.slowClients` */
  constructor(limits: QuotaLimits, slowClients: () => readonly Socket[]) {
    this.#quota = new Quota(limits)
    this.#small = limits.small ?? 0
    this.#slowClients = slowClients
  }

  /** Lets a request hold an amount, or returns the limit that it would exceed. */
  hold(request: FastifyRequest, reply: FastifyReply, amount: number): ExceededLimit | undefined {
    const holder = holderOf(request)
    let exceeded = this.#quota.acquire(holder, amount)
    if (exceeded !== undefined && exceeded !== 'perCaller' && this.#takeFromSlow(holder, amount))
      exceeded = this.#quota.acquire(holder, amount)
    if (exceeded === undefined) this.#keep(request, reply, holder, amount)
    return exceeded
  }

  #keep(request: FastifyRequest, reply: FastifyReply, holder: Holder, amount: number): void {
    const { socket } = request.raw
    const all = this.#held.get(socket) ?? new Set()
    const held: Held = {
      holder,
      amount,
      release: () => {
        if (!all.delete(held)) return
        if (all.size === 0) this.#held.delete(socket)
        this.#quota.release(holder, amount)
      }
    }
    this.#held.set(socket, all.add(held))
    whenAnswered(request, reply, held.release)
  }

  /**
   * Cuts off slow clients until the amount fits. Those of the same network go first, because their amounts count for both limits. Among
   * equals, the client with the largest amount goes first. If all of them together hold too little, nobody is cut off.
   */
  #takeFromSlow(holder: Holder, amount: number): boolean {
    let { perNetwork, total } = this.#quota.excess(holder, amount)
    const chosen = new Set<Socket>()
    const slow = this.#slowClients()
      .flatMap((socket) =>
        [...(this.#held.get(socket) ?? [])].map((held) => ({ socket, ...held, isOwn: held.holder.network === holder.network }))
      )
      .filter((one) => this.#quota.usedBy(one.holder) > this.#small)
      .sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || b.amount - a.amount)
    for (const { socket, amount, isOwn } of slow) {
      if (total <= 0 && !(isOwn && perNetwork > 0)) continue
      chosen.add(socket)
      total -= amount
      if (isOwn) perNetwork -= amount
    }
    if (perNetwork > 0 || total > 0) return false
    for (const socket of chosen) {
      cutOff(socket)
      // The connection closes in a later turn of the event loop.
      for (const held of this.#held.get(socket) ?? []) held.release()
    }
    return true
  }
}
