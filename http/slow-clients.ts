import type { Socket } from 'node:net'
import { type Connection, connectionOf } from './connection.ts'
import { cutOff, handleOf, takenBytes } from './socket-handle.ts'

/** Milliseconds between two checks of all clients. */
const checkInterval = 1_000

/** A client is slow if the service has waited for it for so many seconds, in which it sent and took fewer bytes a second. */
const slow = { seconds: 5, bytes: 64 * 1024 } as const

/** What a client does while the service waits for it. Checks are counted, not timed, because nobody is served while the thread is blocked. */
interface Pace {
  /** Since the service began to wait. */
  readonly checks: number
  /** The bytes that had been sent and taken before. */
  readonly bytesBefore: number
}

/** Whether the service waits for the rest of a request's body. It does not while the body waits for a turn to be read. */
function awaitsBody({ lastRequest }: Connection): boolean {
  return lastRequest?.complete === false && !lastRequest.isPaused() && lastRequest.readableLength === 0
}

function awaits(connection: Connection): boolean {
  return connection.socket.writableLength > 0 || awaitsBody(connection)
}

/** Bytes that a client has sent and taken. */
function movedBytes(socket: Socket): number {
  return socket.bytesRead + takenBytes(socket)
}

/**
 * Finds clients that send a body, or read an answer, so slowly that they hold for long what others need. A slow client is cut off only
 * when somebody needs what it holds.
 */
export class SlowClients {
  readonly #open: () => Iterable<Connection>
  readonly #paces = new WeakMap<Socket, Pace>()
  readonly #timer = setInterval(() => this.#check(), checkInterval).unref()

  /** @param open gives the open connections */
  constructor(open: () => Iterable<Connection>) {
    this.#open = open
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Cuts off the slowest of some clients, if it is slow. @returns its socket */
  cutOffSlowest(sockets: Iterable<Socket>): Socket | undefined {
    let slowest: { readonly socket: Socket; readonly rate: number } | undefined
    for (const socket of sockets) {
      const rate = this.#rateOf(socket)
      if (rate < (slowest?.rate ?? slow.bytes)) slowest = { socket, rate }
    }
    if (slowest) cutOff(slowest.socket)
    return slowest?.socket
  }

  /** Bytes a second. Infinity if the service does not wait for the client, or has not waited for long. */
  #rateOf(socket: Socket): number {
    const connection = handleOf(socket) && connectionOf(socket)
    const pace = this.#paces.get(socket)
    const seconds = ((pace?.checks ?? 0) * checkInterval) / 1000
    if (!connection || !pace || !awaits(connection) || seconds < slow.seconds) return Number.POSITIVE_INFINITY
    return (movedBytes(socket) - pace.bytesBefore) / seconds
  }

  #check(): void {
    for (const connection of this.#open()) {
      const { socket } = connection
      const { checks, bytesBefore } = this.#paces.get(socket) ?? { checks: -1, bytesBefore: movedBytes(socket) }
      if (awaits(connection)) this.#paces.set(socket, { checks: checks + 1, bytesBefore })
      else this.#paces.delete(socket)
    }
  }
}
