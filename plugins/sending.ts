import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import type { Connection } from '../http/connections.ts'
import { Problem } from '../http/problem.ts'

/** Bytes of answers that may wait for their readers, of all connections together. Of one connection only one answer waits. */
const mostWaiting = 64 * 1024 * 1024

/** An answer of fewer bytes always finds room. */
const small = 64 * 1024

/** Milliseconds between two looks at the readers. */
const interval = 1_000

/** A reader that took nothing between as many looks gives way to others. */
const stalled = 3

interface Progress {
  /** Bytes of whole writes that the system has taken. */
  taken: number
  /** Bytes that it has still to take of the write under way. */
  left: number
  /**
   * Looks in a row at which it had taken nothing more. They are counted, not timed: while the thread stands still no reader
   * can be served.
   */
  looks: number
}

/** What the system has still to take of the write under way, where Node tells. */
function leftOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? 0
}

/**
 * Who does not take an answer is cut off: after SEND_TIMEOUT without progress, or sooner when the answers that wait for readers
 * take more memory than there is for them. Then those give way that take nothing, and after them the connections of the
 * address that has most waiting, unless it is the one that asks: that one is refused. So nobody can fill the room of others.
 */
export default fp(
  async function sending(app: FastifyInstance, { config }: { config: Config }) {
    const progress = new WeakMap<Socket, Progress>()
    const addresses = new WeakMap<Socket, string>()
    const addressOf = (socket: Socket) => addresses.get(socket) ?? socket.remoteAddress ?? ''

    const takenOf = (socket: Socket) => socket.bytesWritten - socket.writableLength

    function hasProgressed(socket: Socket, { taken, left }: Progress): boolean {
      return socket.writableLength === 0 || takenOf(socket) > taken || leftOf(socket) < left
    }

    /** Looks in a row at which the reader has taken nothing of what waits. */
    function idleLooks(socket: Socket): number {
      const known = progress.get(socket)
      return known === undefined || hasProgressed(socket, known) ? 0 : known.looks
    }

    function cutOff(socket: Socket): void {
      // With a reset the system forgets at once what it holds for the reader.
      socket.resetAndDestroy()
    }

    function lookAround(): void {
      for (const { socket } of [...app.connections.open]) {
        const known = progress.get(socket)
        if (known === undefined || hasProgressed(socket, known)) {
          progress.set(socket, { taken: takenOf(socket), left: leftOf(socket), looks: 0 })
        } else if (++known.looks * interval >= config.SEND_TIMEOUT * 1000) cutOff(socket)
      }
    }

    function readers(): { readonly waiting: readonly Connection[]; readonly total: number; readonly byAddress: Map<string, number> } {
      const waiting = [...app.connections.open].filter(({ socket }) => !socket.destroyed && socket.writableLength > 0)
      const byAddress = new Map<string, number>()
      let total = 0
      for (const { socket } of waiting) {
        total += socket.writableLength
        byAddress.set(addressOf(socket), (byAddress.get(addressOf(socket)) ?? 0) + socket.writableLength)
      }
      return { waiting, total, byAddress }
    }

    /** Cuts readers off until there is room. @returns false when the address itself has most of what waits */
    function makeRoom(bytes: number, address: string): boolean {
      for (;;) {
        const { waiting, total, byAddress } = readers()
        if (total === 0 || total + bytes <= mostWaiting) return true
        const slowest = waiting.map(({ socket }) => ({ socket, idle: idleLooks(socket) })).sort((a, b) => b.idle - a.idle)
        const most = [...byAddress].sort(([, a], [, b]) => b - a)[0]?.[0]
        const out =
          slowest[0] && slowest[0].idle >= stalled
            ? slowest[0]
            : slowest.find(({ socket }) => most !== address && addressOf(socket) === most)
        if (!out) return false
        cutOff(out.socket)
      }
    }

    const timer = setInterval(lookAround, interval).unref()
    app.addHook('onClose', async () => clearInterval(timer))

    app.addHook('onSend', async (request, reply, payload) => {
      const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0
      if (bytes <= small) return
      addresses.set(request.raw.socket, request.ip)
      // What is written was stored: its answer is owed, and is no larger than what was sent allows.
      const isOwed = !['GET', 'HEAD'].includes(request.method) || reply.statusCode >= 400
      if (!makeRoom(bytes, request.ip) && !isOwed)
        throw new Problem('overloaded', 'Too many large answers wait to be read by this address. Read those, then ask again.')
    })
  },
  { name: 'sending', fastify: '5.x', dependencies: ['draining', 'problems'] }
)
