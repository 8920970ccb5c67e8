import type { Socket } from 'node:net'
import { networkOf } from '../fairness/networks.ts'
import type { Connection } from './connection.ts'
import { handleOf } from './socket-handle.ts'

/** The maximum bytes of unsent responses on all connections together. Each connection has at most one. */
const maxBufferedBytes = 64 * 1024 * 1024

/** The maximum of one network. */
const maxBufferedByNetwork = 16 * 1024 * 1024

/** Responses up to this size in bytes are always sent. */
const smallResponse = 64 * 1024

/** Milliseconds between two checks of all readers. */
const checkInterval = 1_000

/** A reader without progress in this many checks counts as stalled, and is disconnected first when memory runs out. */
const stalledAfter = 3

/**
 * A reader is slow if the service has waited for it for so many seconds, and it took fewer bytes in each. It keeps what it holds, unless
 * somebody else needs it.
 */
const slow = { checks: 10, bytes: 64 * 1024 } as const

/** Checks are counted, not timed, because no reader is served while the thread is blocked. */
interface Progress {
  /** Bytes that the operating system had taken for the reader at the last check. */
  readonly bytesTaken: number
  /** Consecutive checks without progress. */
  readonly stalledChecks: number
  /** Since the first of the consecutive checks at which the service waited for the reader; undefined if it does not wait. */
  readonly behind: { readonly checks: number; readonly takenBefore: number } | undefined
}

function takenBytes(socket: Socket): number {
  const { bytesWritten = 0, writeQueueSize = 0 } = handleOf(socket) ?? {}
  return bytesWritten - writeQueueSize
}

function hasProgressed(socket: Socket, { bytesTaken }: Progress): boolean {
  return socket.writableLength === 0 || takenBytes(socket) > bytesTaken
}

/** A reset frees the operating system's buffers at once. */
function cutOff(socket: Socket): void {
  socket.resetAndDestroy()
}

/**
 * Cuts off clients that do not read their responses: after the timeout without progress, or sooner when unsent responses take
 * too much memory. Then stalled connections are closed first, and after them those of the network with the most unsent bytes.
 * If that is the network of the new response, or it has its maximum, there is no room for it. So nobody can use up the memory of others.
 */
export class SlowReaders {
  readonly #open: () => Iterable<Connection>
  readonly #timeout: number
  readonly #progress = new WeakMap<Socket, Progress>()
  readonly #networks = new WeakMap<Socket, string>()
  readonly #timer = setInterval(() => this.#check(), checkInterval).unref()

  /**
   * @param open gives the open connections
   * @param timeout in milliseconds
   */
  constructor(open: () => Iterable<Connection>, timeout: number) {
    this.#open = open
    this.#timeout = timeout
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Cuts off readers until the bytes fit. @returns false when the network itself has the most unsent bytes */
  makeRoom(bytes: number, socket: Socket, network: string): boolean {
    if (bytes <= smallResponse) return true
    this.#networks.set(socket, network)
    for (;;) {
      const { waiting, total, byNetwork } = this.#unsent()
      const own = byNetwork.get(network) ?? 0
      // A response that is larger than the maximum is sent alone.
      const fits = total === 0 || total + bytes <= maxBufferedBytes
      const fitsOwn = own === 0 || own + bytes <= maxBufferedByNetwork
      if (fits && fitsOwn) return true
      const victim = fitsOwn
        ? this.#victim(waiting, byNetwork, network)
        : this.#stalled(waiting.filter((socket) => this.#networkOf(socket) === network))
      if (!victim) return false
      cutOff(victim)
    }
  }

  /** Cuts off the slowest of some readers, if it is slow. @returns that reader */
  cutOffSlowest(sockets: Iterable<Socket>): Socket | undefined {
    let slowest: { readonly socket: Socket; readonly rate: number } | undefined
    for (const socket of sockets) {
      const rate = this.#rateOf(socket)
      if (rate < Math.min(slow.bytes, slowest?.rate ?? Number.POSITIVE_INFINITY)) slowest = { socket, rate }
    }
    if (slowest) cutOff(slowest.socket)
    return slowest?.socket
  }

  /** Bytes that a reader takes in a second. Infinity if the service does not wait for it, or has not waited for long. */
  #rateOf(socket: Socket): number {
    const behind = this.#progress.get(socket)?.behind
    const isCutOff = handleOf(socket) === undefined
    if (!behind || isCutOff || socket.writableLength === 0 || behind.checks < slow.checks) return Number.POSITIVE_INFINITY
    return ((takenBytes(socket) - behind.takenBefore) * 1000) / (behind.checks * checkInterval)
  }

  #victim(waiting: readonly Socket[], byNetwork: ReadonlyMap<string, number>, network: string): Socket | undefined {
    const stalled = this.#stalled(waiting)
    if (stalled) return stalled
    const busiest = [...byNetwork].sort(([, a], [, b]) => b - a)[0]?.[0]
    if (busiest === network) return undefined
    return this.#slowest(waiting.filter((socket) => this.#networkOf(socket) === busiest))
  }

  #stalled(waiting: readonly Socket[]): Socket | undefined {
    const slowest = this.#slowest(waiting)
    return slowest && this.#stalledChecks(slowest) >= stalledAfter ? slowest : undefined
  }

  #slowest(waiting: readonly Socket[]): Socket | undefined {
    // This runs for each client that is cut off, so it looks once at each.
    let slowest: Socket | undefined
    for (const socket of waiting) if (!slowest || this.#stalledChecks(socket) > this.#stalledChecks(slowest)) slowest = socket
    return slowest
  }

  #unsent(): { readonly waiting: readonly Socket[]; readonly total: number; readonly byNetwork: ReadonlyMap<string, number> } {
    const waiting = [...this.#open()].map(({ socket }) => socket).filter((socket) => !socket.destroyed && socket.writableLength > 0)
    const byNetwork = new Map<string, number>()
    let total = 0
    for (const socket of waiting) {
      total += socket.writableLength
      byNetwork.set(this.#networkOf(socket), (byNetwork.get(this.#networkOf(socket)) ?? 0) + socket.writableLength)
    }
    return { waiting, total, byNetwork }
  }

  #networkOf(socket: Socket): string {
    return this.#networks.get(socket) ?? networkOf(socket.remoteAddress ?? '')
  }

  #stalledChecks(socket: Socket): number {
    const known = this.#progress.get(socket)
    return known === undefined || hasProgressed(socket, known) ? 0 : known.stalledChecks
  }

  #check(): void {
    for (const { socket } of [...this.#open()]) {
      const bytesTaken = takenBytes(socket)
      const known = this.#progress.get(socket)
      const stalledChecks = known && !hasProgressed(socket, known) ? known.stalledChecks + 1 : 0
      const { checks = -1, takenBefore = bytesTaken } = known?.behind ?? {}
      this.#progress.set(socket, {
        bytesTaken,
        stalledChecks,
        behind: socket.writableLength > 0 ? { checks: checks + 1, takenBefore } : undefined
      })
      if (stalledChecks * checkInterval >= this.#timeout) cutOff(socket)
    }
  }
}
