import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { CrowdLimit } from '../fairness/crowd-limit.ts'
import { FairScheduler } from '../fairness/fair-scheduler.ts'
import {
  type Connection,
  closeAfterLastResponse,
  connectionOf,
  endInsteadOfDestroy,
  hasSentLastResponse,
  hold,
  openConnection,
  release,
  stateOf,
  stopReading
} from './connection.ts'
import { limitParsing } from './parsing-limits.ts'

/** The maximum of requests that a client may send ahead on one connection. */
const maxSentAhead = 100

/** Milliseconds of a turn of the event loop in which queued requests start. */
const startingTime = 2

/** Milliseconds. Their sum stays well below the 1.5 seconds in which a service without pending requests stops. */
const timeouts = {
  /** The listener closes after a turn of the event loop in which nobody connected and which was at most this long. */
  shortTurn: 1,
  /** After this time the turn may be longer. */
  anyTurn: 200,
  /** After this time and `minTurns`, the listener closes even if clients still connect. They may connect faster than Node accepts. */
  listener: 400,
  /** For the first request of a new connection, or for the rest of a request's header section. */
  request: 400,
  /** For the client to read its last response and close. Closing first would reset a client that still sends, and lose the response. */
  close: 300,
  pollInterval: 20
} as const

/** Even a busy machine gives waiting clients this many turns of the event loop. Node accepts one client per turn. */
const minTurns = 64

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

/** The connections of a server. They can all be closed without a reset (RFC 9112 section 9.6). */
export class Connections {
  readonly #server: Server
  readonly #refuse: (socket: Socket) => void
  #handle: RequestHandler
  readonly #open = new Set<Connection>()
  readonly #late = new WeakSet<IncomingMessage>()
  #isClosing = false
  #hasNewClient = false
  /** Bytes that are not parsed yet. A customer whose answers are late because of others has few, and is never cut off. */
  readonly #unparsed = new CrowdLimit(32 * 1024 * 1024, 1024 * 1024)
  /** Starts the next queued request of a connection, by the connection's address. */
  readonly #starts = new FairScheduler(startingTime)
  #listenerClosing: Promise<void> | undefined

  /** @param refuse answers a client that has sent only a part of a request, and ends the connection */
  constructor(server: Server, refuse: (socket: Socket) => void) {
    this.#server = server
    this.#refuse = refuse
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.on('drop', () => {
      this.#hasNewClient = true
    })
    // Accepting fails when no file descriptor is left. Waiting clients are accepted when there is one again.
    server.on('error', () => undefined)
    const handlers = server.listeners('request')
    server.removeAllListeners('request')
    this.#handle = (request, response) => {
      for (const handle of handlers) handle.call(server, request, response)
    }
    server.on('request', (request, response) => this.#receive(request, response))
  }

  /** Puts a layer around the application: it answers a request itself, or passes it on to the next handler. */
  wrap(layer: (next: RequestHandler) => RequestHandler): void {
    this.#handle = layer(this.#handle)
  }

  /** Whether each response is the last of its connection. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  get open(): Iterable<Connection> {
    return this.#open
  }

  /** Responses that are not completely sent. */
  get pendingResponses(): ServerResponse[] {
    return [...this.#open].flatMap(({ pendingResponses }) => [...pendingResponses])
  }

  /** Set while the listener closes. Requests must wait for it before they are processed. */
  get listenerClosing(): Promise<void> | undefined {
    return this.#listenerClosing
  }

  /** Whether a request arrived after the last response of its connection. It must not be processed. */
  isLate(request: IncomingMessage): boolean {
    return this.#late.has(request)
  }

  /** From now on each response is the last of its connection and has `Connection: close`. */
  disableKeepAlive(): void {
    this.#isClosing = true
    for (const connection of this.#open) {
      endInsteadOfDestroy(connection)
      // The last request that has arrived gets the last response.
      connection.unparsed.parse()
      closeAfterLastResponse(connection)
    }
  }

  /**
   * Closes the listener, then each connection when its requests are answered. Resolves when no connection is left.
   * @param grace milliseconds for an incomplete header section, or for the first request of a new connection
   */
  async drain(grace: number = timeouts.request): Promise<void> {
    await this.#closeListener()
    const closedAt = performance.now()
    while (this.#open.size > 0) {
      // Every socket has just been read, so all requests that have arrived are known.
      await turnOfTheLoop()
      for (const connection of this.#open) this.#closeIfIdle(connection, closedAt, grace)
      await sleep(timeouts.pollInterval)
    }
  }

  /**
   * When a listener closes, the system resets clients that it has not accepted yet, and Node accepts one client per turn of
   * the event loop. So requests wait until a turn accepts nobody, and the listener closes right after that turn.
   */
  async #closeListener(): Promise<void> {
    let release: (() => void) | undefined
    this.#listenerClosing = new Promise((resolve) => {
      release = resolve
    })
    // The current turn may be partly over. Only whole turns are counted, since each of them polls the listener.
    await turnOfTheLoop()
    const since = performance.now()
    for (let turns = 1, isListenerReady = false; !isListenerReady; turns++) {
      this.#hasNewClient = false
      const begun = performance.now()
      await turnOfTheLoop()
      const now = performance.now()
      const isQuiet = !this.#hasNewClient && (now - begun < timeouts.shortTurn || now - since > timeouts.anyTurn)
      isListenerReady = isQuiet || (now - since > timeouts.listener && turns > minTurns)
    }
    // http.Server's own close would destroy the connections that it takes for idle.
    NetServer.prototype.close.call(this.#server)
    this.#listenerClosing = undefined
    release?.()
  }

  #accept(socket: Socket): Connection {
    this.#hasNewClient = true
    this.#starts.connectionAccepted()
    const connection = openConnection(socket, {
      changed: (difference) => this.#countUnparsed(connection, difference),
      failed: (error) => this.#server.emit('clientError', error, socket)
    })
    this.#open.add(connection)
    // Node has no listener on sockets that it hands over, such as for CONNECT. Their errors would end the process.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#open.delete(connection)
      this.#discardQueue(connection)
    })
    // A connection that was already reset has no address.
    if (socket.remoteAddress === undefined) socket.destroy()
    if (this.#isClosing) endInsteadOfDestroy(connection)
    this.#limitParsing(connection)
    return connection
  }

  #limitParsing(connection: Connection): void {
    const { socket, queued, pendingResponses } = connection
    limitParsing(socket, {
      isFull: () => connection.sentAhead >= maxSentAhead,
      cut() {
        connection.isCut = true
        hold(connection)
        ;[...pendingResponses].at(-1)?.setHeader('connection', 'close')
      },
      // A service that stops must know the last request of each connection.
      pausesAfter: (request) => connection.unparsed.canResume && !this.#isClosing && queued.at(-1)?.request === request,
      refuse: (error) => this.#server.emit('clientError', error, socket)
    })
  }

  #countUnparsed({ address, socket }: Connection, difference: number): void {
    this.#unparsed.change(address, difference)
    if (difference > 0 && this.#unparsed.isCrowdedOut(address)) socket.destroy()
  }

  /**
   * Handles the requests of one connection one at a time (RFC 9112 section 9.3.2). Node itself starts all pipelined requests at
   * once, and has no event for a response that can never be sent because the connection closed before its turn.
   */
  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const connection = connectionOf(socket) ?? this.#accept(socket)
    const { queued, pendingResponses } = connection
    // After the last response, which may have been sent before this request was parsed, nothing is processed (RFC 9112 section 9.6).
    if (!socket.writable) return
    const noteActivity = () => {
      connection.lastActivity = { at: performance.now(), bytesRead: socket.bytesRead }
    }
    connection.lastRequest = request
    connection.pendingResponses.add(response)
    // Each emits `close` only once. `once` would allocate three more objects.
    request.on('close', noteActivity)
    response.on('close', () => {
      pendingResponses.delete(response)
      noteActivity()
      this.#handleNext(connection)
    })
    if (this.#isClosing) {
      if (hasSentLastResponse(connection)) this.#late.add(request)
      closeAfterLastResponse(connection)
    }
    if (pendingResponses.size === 1) {
      this.#handle(request, response)
      return
    }
    queued.push({ request, response })
    connection.sentAhead++
    hold(connection)
  }

  #handleNext(connection: Connection): void {
    const { queued, socket } = connection
    if (!socket.writable) {
      this.#discardQueue(connection)
      return
    }
    const first = queued.shift()
    if (!first) return
    this.#startLater(connection, () => {
      if (!socket.destroyed) this.#readOn(connection)
      const wasRefused = !connection.isReading && !first.request.complete
      if (socket.writable && !wasRefused) this.#handle(first.request, first.response)
    })
  }

  /** Parses or reads the next requests if none is waiting. */
  #readOn(connection: Connection): void {
    const { queued, unparsed, socket } = connection
    if (queued.length === 0) unparsed.parse()
    if (queued.length > 0 || !connection.isReading) return
    // Unread bytes would make the system reset the connection, and the client could lose its last response.
    if (connection.isCut) stopReading(socket)
    else release(connection)
  }

  /** Starts one request of a connection per turn of the event loop, and few of all, so that long pipelines do not delay other clients. */
  #startLater({ address }: Connection, start: () => void): void {
    setImmediate(() => this.#starts.schedule(address, start))
  }

  #discardQueue(connection: Connection): void {
    connection.queued.length = 0
    connection.unparsed.discard()
    connection.pendingResponses.clear()
  }

  #closeIfIdle(connection: Connection, closedAt: number, grace: number): void {
    const { socket, lastActivity } = connection
    const now = performance.now()
    switch (stateOf(connection)) {
      case 'busy':
        return
      case 'idle':
        socket.end()
        return
      case 'new':
        // A connection that is not read yet may have sent its request long ago, so its grace begins when it is read.
        if (socket.isPaused()) connection.lastActivity = { at: now, bytesRead: 0 }
        else if (now - lastActivity.at > grace) socket.end()
        return
      case 'arriving':
        if (now - closedAt > grace) this.#refuse(socket)
        return
      case 'ended':
        connection.endedAt ??= now
        if (now - connection.endedAt > timeouts.close) socket.destroy()
    }
  }
}
