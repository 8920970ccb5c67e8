import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import type { Connection } from '../http/connection.ts'
import { checkingPayload } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Cuts off slow readers until a response fits into the memory for unsent ones.
     * @returns false if the address itself has the most unsent bytes; then refuse the request
     */
    makeRoomToSend(bytes: number, socket: Socket, address: string): boolean
  }
}

/** The maximum bytes of unsent responses on all connections together. Each connection has at most one. */
const maxBufferedBytes = 64 * 1024 * 1024

/** Responses up to this size in bytes are always sent. */
const smallResponse = 64 * 1024

/** Milliseconds between two checks of all readers. */
const checkInterval = 1_000

/** A reader without progress in this many checks counts as stalled, and is cut off first when memory is short. */
const stalledAfter = 3

interface Progress {
  /** Bytes of complete writes that the operating system has taken. */
  bytesTaken: number
  /** Bytes of the current write that the operating system has not taken yet. */
  bytesPending: number
  /** Consecutive checks without progress. They are counted, not timed, because no reader is served while the thread is blocked. */
  stalledChecks: number
}

/** Bytes of the current write that the operating system has not taken yet, if Node knows. */
function pendingBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? 0
}

/**
 * Cuts off clients that do not read their responses: after SEND_TIMEOUT without progress, or sooner when unsent responses take
 * too much memory. Then stalled connections are closed first, and after them those of the address with the most unsent bytes.
 * If that is the address of the new response, the new request is refused instead. So nobody can use up the memory of others.
 */
export default fp(
  async function sending(app: FastifyInstance, { config }: { config: Config }) {
    const progress = new WeakMap<Socket, Progress>()
    const addresses = new WeakMap<Socket, string>()
    const addressOf = (socket: Socket) => addresses.get(socket) ?? socket.remoteAddress ?? ''

    const takenBytes = (socket: Socket) => socket.bytesWritten - socket.writableLength

    function hasProgressed(socket: Socket, { bytesTaken, bytesPending }: Progress): boolean {
      return socket.writableLength === 0 || takenBytes(socket) > bytesTaken || pendingBytes(socket) < bytesPending
    }

    function stalledChecks(socket: Socket): number {
      const known = progress.get(socket)
      return known === undefined || hasProgressed(socket, known) ? 0 : known.stalledChecks
    }

    function cutOff(socket: Socket): void {
      // A reset frees the operating system's buffers at once.
      socket.resetAndDestroy()
    }

    function checkReaders(): void {
      for (const { socket } of [...app.connections.open]) {
        const known = progress.get(socket)
        if (known === undefined || hasProgressed(socket, known)) {
          progress.set(socket, { bytesTaken: takenBytes(socket), bytesPending: pendingBytes(socket), stalledChecks: 0 })
        } else if (++known.stalledChecks * checkInterval >= config.SEND_TIMEOUT * 1000) cutOff(socket)
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

    /** Cuts off readers until the bytes fit. @returns false when the address itself has the most unsent bytes */
    function evictFor(bytes: number, address: string): boolean {
      for (;;) {
        const { waiting, total, byAddress } = readers()
        if (total === 0 || total + bytes <= maxBufferedBytes) return true
        const slowest = waiting.map(({ socket }) => ({ socket, checks: stalledChecks(socket) })).sort((a, b) => b.checks - a.checks)
        const busiest = [...byAddress].sort(([, a], [, b]) => b - a)[0]?.[0]
        const victim =
          slowest[0] && slowest[0].checks >= stalledAfter
            ? slowest[0]
            : slowest.find(({ socket }) => busiest !== address && addressOf(socket) === busiest)
        if (!victim) return false
        cutOff(victim.socket)
      }
    }

    app.decorate('makeRoomToSend', (bytes: number, socket: Socket, address: string) => {
      if (bytes <= smallResponse) return true
      addresses.set(socket, address)
      return evictFor(bytes, address)
    })

    const timer = setInterval(checkReaders, checkInterval).unref()
    app.addHook('onClose', async () => clearInterval(timer))

    app.addHook(
      'onSend',
      checkingPayload((request, reply, payload: unknown) => {
        const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0
        // A write is already stored, so its response must be sent. The request's size limits how large it is.
        const mustSend = !['GET', 'HEAD'].includes(request.method) || reply.statusCode >= 400
        if (!app.makeRoomToSend(bytes, request.raw.socket, request.ip) && !mustSend)
          throw new Problem('overloaded', 'Too many large responses to this address are still unread. Read those first, then try again.')
      })
    )
  },
  { name: 'sending', fastify: '5.x', dependencies: ['draining', 'problems'] }
)
