import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Config, mostBodies } from '../config.ts'
import { encodedLength, type JsonText, mostInline, textOf } from '../domain/deferred.ts'
import { LargeRead } from '../domain/errors.ts'
import type { Order } from '../domain/order.ts'
import type { Store } from '../domain/store.ts'
import { type Holder, Quota } from '../fairness/quota.ts'
import { bodyLength } from '../http/body.ts'
import { HeldUntilAnswered } from '../http/held-until-answered.ts'
import { HeldUntilWritten } from '../http/held-until-written.ts'
import { addCheck } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import { holderOf } from '../http/sender-name.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Reserves memory for large stored orders while `work` reads or changes them.
     * @param orders the text of the orders, or its length in characters or bytes if it is not read yet
     * @throws Problem `overloaded` when too much is reserved already
     */
    withRoomFor<T>(orders: JsonText | number, work: () => Promise<T>): Promise<T>
    /**
     * Writes the answer to a write that was carried out, with memory reserved for its order.
     * @param order the text of the order
     * @returns undefined if too much is reserved already, the client leaves too many answers unread, or the answer cannot be written: that is
     * no error then, and the answer has no details
     */
    writeWithRoom<T>(order: JsonText, write: () => Promise<T>): Promise<T | undefined>
    /**
     * Charges the request for a stored order that it has read, and reserves memory for the order until the answer is written. What the
     * request does with the order until then needs no more room. A small order costs nothing and needs no room.
     * @throws Problem `overloaded` when too much is reserved already
     */
    holdOrder(order: Order): void
    /**
     * Reserves memory for a stored order, or for a page of them, that the request is about to read, and charges the request for it. To read
     * megabytes only to refuse them would hold up everybody else.
     * @param size as `StoredOrderHead` has it, or the weight of the events of a page
     * @throws Problem `overloaded` when too much is reserved already, `too-many-requests` as `rateRefusal` says
     */
    holdUnreadOrder(size: number): void
    /**
     * Does work that reads stored content of unknown size. If it is large, the store says so before it reads anything. Then the request is
     * charged for the content, memory is reserved until the request is answered, and the work is done again.
     * @param work gets the most bytes that it may read, and reserves room for them when its turn to read comes
     * @throws Problem `overloaded` when too much is reserved already, `too-many-requests` as `rateRefusal` says
     */
    makingRoom<T>(work: (most: number, takeRoom: () => void) => Promise<T>): Promise<T>
    /** Reads from the store in the same way, in the caller's turn. */
    readMakingRoom<T>(work: (store: Store, most: number) => Promise<T>): Promise<T>
    /**
     * Reserves memory for what the request has read, until its answer is written. What was reserved beyond that is given back. A value
     * that is not deferred needs no room.
     * @throws Problem `overloaded` when too much is reserved already
     */
    holdRead(value: object): void
  }
}

const mebibyte = 1024 * 1024

// 20 customers of one address sent orders of 2 MiB and read them (bench/README.md). With 96 MiB in total and no limit for a network, all
// processes together had 735 MB. With 64 MiB in total and 24 MiB for a network they had 558 MB. In a catalogue of the largest products
// they had 677 to 700 MB with 24 MiB for a network, and 592 to 609 MB with the limits below.

/** Bytes of memory for the bodies of pending requests. */
const bodyLimits = { total: mostBodies, perNetwork: 16 * mebibyte, perCaller: 12 * mebibyte, small: mebibyte / 4 }

/**
 * Bytes of memory for the stored orders that requests read. An order that is read takes several times its size: it is also sent to the
 * document process, and its answer comes back. So the share of one caller is smaller here than for bodies.
 */
const orderLimits = { total: 48 * mebibyte, perNetwork: 16 * mebibyte, perCaller: 12 * mebibyte }

function noRoom(): Problem {
  return new Problem('overloaded', 'Too many large orders are being read or changed right now. Try again in a few seconds.')
}

/** Room in memory that is reserved. */
interface Room {
  readonly holder: Holder
  bytes: number
  /** The number of tasks that use it, with the request that keeps it. At 0 it is free. */
  users: number
}

/** Bytes of texts in memory. V8 uses two for each character if one of them is not in Latin-1. An unread text may have such a character. */
function bytesOfOrders(orders: JsonText | number): number {
  return typeof orders === 'number' ? 2 * orders : bytesOfText(orders, encodedLength(orders))
}

/** @param encoded the `encodedLength` of the text */
function bytesOfText(text: JsonText, encoded: number): number {
  return typeof text !== 'string' || encoded === text.length ? encoded : 2 * text.length
}

/** Characters of an order's JSON for what `StoredOrderHead` does not count. */
const mostOfHead = 1024

/**
 * Limits the memory that the bodies of pending requests take, and so the queue of the document process. One sender can use only a part
 * of it, and so can one network, which may have many customers. Large bodies leave room for small ones of others. A request for which no
 * memory is left is refused before its body is read. If slow clients hold enough memory, they are cut off instead. Reads of large orders
 * have a quota of their own, so they never keep others from placing orders.
 */
export default fp(
  async function admission(app: FastifyInstance, { config }: { config: Config }) {
    const bodies = new HeldUntilAnswered(bodyLimits, () => app.slowClients())
    const storedOrders = new Quota(orderLimits)

    /** The rooms that requests keep. Work that goes on after the client has gone keeps the room until it ends. */
    const kept = new HeldUntilWritten<Room>(app, leave)

    function reserve(request: FastifyRequest, bytes: number): Room | undefined {
      const holder = holderOf(request)
      return storedOrders.acquire(holder, bytes) ? undefined : { holder, bytes, users: 1 }
    }

    function leave(room: Room): void {
      room.users--
      if (room.users === 0) storedOrders.release(room.holder, room.bytes)
    }

    async function inRoom<T>(room: Room, work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } finally {
        leave(room)
      }
    }

    /** The room that the request keeps, if that is enough, or else new room. */
    function enter(request: FastifyRequest, orders: JsonText | number): Room | undefined {
      const room = kept.get(request)
      const most = 2 * (typeof orders === 'number' ? orders : orders.length)
      if (!room || (most > room.bytes && bytesOfOrders(orders) > room.bytes)) return reserve(request, bytesOfOrders(orders))
      room.users++
      return room
    }

    app.decorateRequest('withRoomFor', async function <
      T
    >(this: FastifyRequest, orders: JsonText | number, work: () => Promise<T>): Promise<T> {
      const room = enter(this, orders)
      if (!room) throw noRoom()
      return inRoom(room, work)
    })

    app.decorateRequest('writeWithRoom', async function <T>(this: FastifyRequest, order: JsonText, write: () => Promise<T>): Promise<
      T | undefined
    > {
      const room = app.makeRoomToSend(order.length, this.raw.socket, this.network) ? enter(this, order) : undefined
      if (!room) return undefined
      return inRoom(room, write).catch((error: unknown) => {
        // A client that has gone is no fault of the service.
        if (!this.sender().signal.aborted)
          this.log.warn({ err: error }, 'the answer about a large order could not be written, so one without it was sent')
        return undefined
      })
    })

    app.decorateRequest('holdOrder', function (this: FastifyRequest, order: Order) {
      const text = textOf(order)
      if (text === undefined) return
      const encoded = encodedLength(text)
      this.chargeForOrder(encoded)
      // A request that reads its order again, to show it with a refusal, has the same one.
      keep(this, bytesOfText(text, encoded))
    })

    app.decorateRequest('holdUnreadOrder', function (this: FastifyRequest, size: number) {
      if (size > mostInline && !kept.get(this)) keepUnread(this, size)
      // Other requests of the caller that were accepted already see the charge before they read an order.
      this.chargeForOrder(size)
    })

    app.decorateRequest('makingRoom', async function <
      T
    >(this: FastifyRequest, work: (most: number, takeRoom: () => void) => Promise<T>): Promise<T> {
      for (let most = mostInline; ; ) {
        try {
          return await work(most, () => {
            if (most > mostInline) keepUnread(this, most)
          })
        } catch (error) {
          if (!(error instanceof LargeRead)) throw error
          most = error.size
          await this.nextTurn()
          this.chargeForOrder(most)
        }
      }
    })

    app.decorateRequest('readMakingRoom', function <T>(this: FastifyRequest, work: (store: Store, most: number) => Promise<T>): Promise<T> {
      return this.makingRoom((most, takeRoom) => {
        const read = (store: Store) => {
          takeRoom()
          return work(store, most)
        }
        return this.read(read, most)
      })
    })

    app.decorateRequest('holdRead', function (this: FastifyRequest, value: object) {
      const text = textOf(value)
      if (text !== undefined) keep(this, bytesOfOrders(text))
    })

    /** Keeps room for stored orders of this size that are read next, and lets the request keep what it has beyond that. */
    function keepUnread(request: FastifyRequest, size: number): void {
      const refusal = request.rateRefusal()
      if (refusal) throw refusal
      const bytes = bytesOfOrders(size + mostOfHead)
      if (bytes > (kept.get(request)?.bytes ?? 0)) keep(request, bytes)
    }

    /** Keeps this much room for the request until it is answered, and gives back what it has kept beyond that. */
    function keep(request: FastifyRequest, bytes: number): void {
      const before = kept.get(request)
      if (before && bytes <= before.bytes) {
        if (before.users === 1) shrink(before, bytes)
        return
      }
      // A caller with no other room may exceed its share, so what is too large for it can still be read.
      kept.release(request)
      const room = reserve(request, bytes)
      if (!room) throw noRoom()
      kept.hold(request, room)
    }

    function shrink(room: Room, bytes: number): void {
      storedOrders.release(room.holder, room.bytes - bytes)
      room.bytes = bytes
    }

    addCheck(app, 'preParsing', (request, reply) => {
      // A chunked body may become as large as the limit.
      const bytes = bodyLength(request) ?? config.BODY_LIMIT
      if (bytes === 0) return
      if (bodies.hold(request, reply, bytes)) {
        throw new Problem(
          'overloaded',
          'Too many large documents are being processed right now. Nothing was stored. Send this one again in a few seconds.'
        )
      }
    })
  },
  { name: 'admission', fastify: '5.x', dependencies: ['documents', 'limits', 'problems', 'rate-limit', 'scheduling', 'sending'] }
)
