import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { connectionOf } from './connection.ts'
import { type NewClient, type NewClientRules, receiveClients } from './new-clients.ts'

/** Milliseconds. */
const timeouts = {
  /** The listener closes after a turn of the event loop in which nobody connected and which was at most this long. */
  shortTurn: 1,
  /** After this time the turn may be longer. */
  anyTurn: 200,
  /** After this time and `minTurns`, the listener closes even if clients still connect. They may connect faster than Node accepts. */
  listener: 400
} as const

/** Even a busy machine gives waiting clients this many turns of the event loop. Node accepts one client per turn. */
const minTurns = 64

/** The socket of a server that accepts connections. */
export class Listener {
  readonly #server: Server
  readonly #handlers: ((socket: Socket) => void)[]
  /** The rules for new clients. Until a plugin replaces one of its own, every client gets a place and an answer. */
  readonly rules: NewClientRules
  #newClient: () => NewClient | undefined = () => undefined
  #hasNewClient = false
  #closing: Promise<void> | undefined

  /** @param options `accepted` is called for each client that Node accepts, also for one that is refused afterwards or has already gone */
  constructor(server: Server, { accepted, waitForTurn }: Pick<NewClientRules, 'accepted' | 'waitForTurn'>) {
    this.#server = server
    this.rules = {
      accepted: () => {
        this.#hasNewClient = true
        accepted()
      },
      waitForTurn,
      takePlace: () => () => undefined,
      isFlooding: () => false,
      isUnanswered: () => false
    }
    this.#handlers = server.listeners('connection').map((listener) => listener.bind(server))
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.on('listening', () => {
      this.#newClient = receiveClients(server, this.rules)
    })
    // Accepting fails when no file descriptor is left. Waiting clients are accepted when there is one again.
    server.on('error', () => undefined)
  }

  /** Calls a function for each connection that is not refused, after Node has set up its parser. */
  onAccept(handle: (socket: Socket) => void): void {
    this.#handlers.push(handle)
  }

  /** Set while the listener closes. Requests must wait for it before they are processed. */
  get closing(): Promise<void> | undefined {
    return this.#closing
  }

  /**
   * When a listener closes, the system resets clients that it has not accepted yet, and Node accepts one client per turn of
   * the event loop. So requests wait until a turn accepts nobody, and the listener closes right after that turn.
   */
  async close(): Promise<void> {
    let release: (() => void) | undefined
    this.#closing = new Promise((resolve) => {
      release = resolve
    })
    // The current turn may be partly over. Only whole turns are counted, since each of them polls the listener.
    await turnOfTheLoop()
    const since = performance.now()
    for (let turns = 1, isReady = false; !isReady; turns++) {
      this.#hasNewClient = false
      const begun = performance.now()
      await turnOfTheLoop()
      const now = performance.now()
      const isQuiet = !this.#hasNewClient && (now - begun < timeouts.shortTurn || now - since > timeouts.anyTurn)
      isReady = isQuiet || (now - since > timeouts.listener && turns > minTurns)
    }
    // http.Server's own close would destroy the connections that it takes for idle.
    NetServer.prototype.close.call(this.#server)
    this.#closing = undefined
    release?.()
  }

  #accept(socket: Socket): void {
    const { leave, bytes } = this.#newClient() ?? {}
    if (leave) socket.once('close', leave)
    for (const handle of this.#handlers) handle(socket)
    if (!bytes || socket.destroyed) return
    const connection = connectionOf(socket)
    if (connection) connection.bytesReadEarly = bytes.length
    socket.unshift(bytes)
  }
}
