import type { Socket } from 'node:net'
import type { Connection } from './connection.ts'
import { handleOf, takenBytes } from './socket-handle.ts'

/** Milliseconds between two checks of all clients. */
const checkInterval = 1_000

/** A client is slow if the service has waited for it for so many seconds or more, and it sent and took fewer bytes a second since then. */
const slow = { seconds: 5, bytes: 64 * 1024 } as const

/** The progress of a client while the service waits for it. Checks are counted, not timed, because nobody is served while the thread is blocked. */
interface Pace {
  /** Since the service began to wait. */
  readonly checks: number
  /** The bytes that had been sent and taken before. */
  readonly bytesBefore: number
}

/** Whether the service waits for the rest of a request's body. While the body itself waits for a turn to be read, it does not flow. */
function awaitsBody({ lastRequest }: Connection): boolean {
  return lastRequest?.complete === false && lastRequest.readableFlowing === true && lastRequest.readableLength === 0
}

function awaits(connection: Connection): boolean {
  return connection.socket.writableLength > 0 || awaitsBody(connection)
}

/** Bytes that a client has sent and taken. */
function movedBytes(socket: Socket): number {
  return socket.bytesRead + takenBytes(socket)
}

/**
 * Finds clients that send a body, or read an answer, so slowly that they hold for long what others need. They are cut off only when somebody
 * needs it.
 */
export class SlowClients {
  readonly #open: () => Iterable<Connection>
  readonly #paces = new WeakMap<Socket, Pace>()
  /** The slowest first. */
  #slow: readonly Connection[] = []
  readonly #timer = setInterval(() => this.#check(), checkInterval).unref()

  /** @param open gives the open connections */
  constructor(open: () => Iterable<Connection>) {
    this.#open = open
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The clients that were slow at the last check, and for which the service still waits, the slowest first. */
  get sockets(): readonly Socket[] {
    return this.#slow.filter((connection) => handleOf(connection.socket) && awaits(connection)).map(({ socket }) => socket)
  }

  #check(): void {
    const rates = new Map<Connection, number>()
    for (const connection of this.#open()) {
      const rate = this.#rateOf(connection)
      if (rate < slow.bytes) rates.set(connection, rate)
    }
    this.#slow = [...rates].sort(([, a], [, b]) => a - b).map(([connection]) => connection)
  }

  /** Bytes a second since the service began to wait. Infinity if it does not wait, or has not waited for long. */
  #rateOf(connection: Connection): number {
    const { socket } = connection
    if (!awaits(connection)) {
      this.#paces.delete(socket)
      return Number.POSITIVE_INFINITY
    }
    const before = this.#paces.get(socket)
    const pace: Pace = before ? { ...before, checks: before.checks + 1 } : { checks: 0, bytesBefore: movedBytes(socket) }
    this.#paces.set(socket, pace)
    const seconds = (pace.checks * checkInterval) / 1000
    return seconds >= slow.seconds ? (movedBytes(socket) - pace.bytesBefore) / seconds : Number.POSITIVE_INFINITY
  }
}
