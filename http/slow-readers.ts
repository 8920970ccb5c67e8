import type { Socket } from 'node:net'
import { networkOf } from '../fairness/networks.ts'
import type { Connection } from './connection.ts'
import { cutOff, takenBytes } from './socket-handle.ts'

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

interface Progress {
  /** As `takenBytes`. */
  bytesTaken: number
  /** Consecutive checks without progress. They are counted, not timed, because no reader is served while the thread is blocked. */
  stalledChecks: number
}

function hasProgressed(socket: Socket, { bytesTaken }: Progress): boolean {
  return socket.writableLength === 0 || takenBytes(socket) > bytesTaken
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
      const known = this.#progress.get(socket)
      if (known === undefined || hasProgressed(socket, known)) {
        this.#progress.set(socket, { bytesTaken: takenBytes(socket), stalledChecks: 0 })
      } else if (++known.stalledChecks * checkInterval >= this.#timeout) cutOff(socket)
    }
  }
}
