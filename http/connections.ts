import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { CrowdLimit } from '../fairness/crowd-limit.ts'
import { FairScheduler } from '../fairness/fair-scheduler.ts'
import {
  acceptsRequests,
  type Connection,
  closeAfterLastResponse,
  connectionOf,
  cut,
  endInsteadOfDestroy,
  hasSentLastResponse,
  hold,
  isBetweenRequests,
  noteActivity,
  openConnection,
  release,
  stopReading,
  waitUntilSent
} from './connection.ts'
import { closeIfIdle } from './idle-connections.ts'
import { Listener } from './listener.ts'
import { limitParsing } from './parsing-limits.ts'
import { ResetSweep } from './reset-sweep.ts'
import { destroyIfReset } from './socket-handle.ts'
import { WaitingClients } from './waiting-clients.ts'

/** The maximum of requests that a client may send ahead on one connection. */
const maxSentAhead = 100

/** Milliseconds. A service without pending requests stops well within 1.5 seconds. */
const timeouts = {
  /** For the first request of a new connection, or for the rest of a request's header section. */
  request: 400,
  pollInterval: 20
} as const

/** When all connections together have sent `total` bytes ahead, those of a network that has `perNetwork` of them are closed if they send more. */
interface SentAheadLimits {
  readonly total: number
  readonly perNetwork: number
}

/** A customer whose answers are late because of others has sent little ahead, and is never cut off. */
const bytesSentAhead: SentAheadLimits = { total: 32 * 1024 * 1024, perNetwork: 1024 * 1024 }

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Answers what a connection has sent, if it is one whole request.
 * @param done is called, now or later, with whether the request is answered. If it is not, the bytes must be parsed
 * @returns false if the bytes must be parsed now; then `done` is not called
 */
export type BytesHandler = (socket: Socket, bytes: Buffer, done: (isAnswered: boolean) => void) => boolean

/** The connections of a server. They can all be closed without a reset (RFC 9112 section 9.6). */
export class Connections {
  readonly #server: Server
  readonly #refuse: (socket: Socket) => void
  #handle: RequestHandler
  #answerBytes: BytesHandler = () => false
  readonly #open = new Set<Connection>()
  readonly #resetSweep = new ResetSweep(this.#open)
  readonly #late = new WeakSet<IncomingMessage>()
  #isClosing = false
  readonly #unparsed: CrowdLimit
  readonly listener: Listener
  /** The turns of networks: for what arrives, for queued requests, and for all that the application lets wait. */
  readonly turns = new FairScheduler()
  /** Clients that were accepted and have no socket yet. */
  readonly waiting = new WaitingClients(this.turns)

  /** @param refuse answers a client that has sent only a part of a request, and ends the connection */
  constructor(server: Server, refuse: (socket: Socket) => void, { total, perNetwork } = bytesSentAhead) {
    this.#server = server
    this.#refuse = refuse
    this.#unparsed = new CrowdLimit(total, perNetwork)
    this.listener = new Listener(server, {
      accepted: () => this.turns.connectionAccepted(),
      waitForTurn: (network, client) => this.waiting.add(network, client)
    })
    this.listener.onAccept((socket) => this.#accept(socket))
    server.prependListener('connection', () => this.#resetSweep.checkSome())
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

  /** Puts a layer before the parser. It gets what a connection sends between two requests. */
  beforeParsing(layer: BytesHandler): void {
    this.#answerBytes = layer
  }

  /** Whether each response is the last of its connection. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  get open(): ReadonlySet<Connection> {
    return this.#open
  }

  /** Responses that are not completely sent. */
  get pendingResponses(): ServerResponse[] {
    return [...this.#open].flatMap(({ pendingResponses }) => [...pendingResponses])
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
      connection.reader.parse()
      closeAfterLastResponse(connection)
    }
  }

  /**
   * Closes the listener, then each connection when its requests are answered. Resolves when no connection is left.
   * @param grace milliseconds for an incomplete header section, or for the first request of a new connection
   */
  async drain(grace: number = timeouts.request): Promise<void> {
    await this.listener.close()
    const closedAt = performance.now()
    while (this.#open.size > 0 || !this.waiting.isEmpty) {
      // Every socket has just been read, so all requests that have arrived are known.
      await turnOfTheLoop()
      for (const connection of this.#open) closeIfIdle(connection, { closedAt, grace, refuse: this.#refuse })
      await sleep(timeouts.pollInterval)
    }
  }

  #accept(socket: Socket): Connection {
    const connection = openConnection(socket, {
      answer: (bytes) => this.#answerUnparsed(connection, bytes),
      waitsForTurn: (isShort) => this.#waitsForTurn(connection, isShort),
      changed: (difference) => this.#countUnparsed(connection, difference),
      failed: (error) => this.#server.emit('clientError', error, socket)
    })
    this.#open.add(connection)
    // An error that nobody listens for would end the process, and Node removes its own listener with the first one.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#open.delete(connection)
      this.#discardQueue(connection)
    })
    if (this.#isClosing) endInsteadOfDestroy(connection)
    this.#limitParsing(connection)
    return connection
  }

  #answerUnparsed(connection: Connection, bytes: Buffer): boolean {
    if (this.#isClosing || !isBetweenRequests(connection)) return false
    const { socket, reader } = connection
    connection.isWaiting = true
    const isTaken = this.#answerBytes(socket, bytes, (isAnswered) => {
      connection.isWaiting = false
      if (socket.destroyed) return
      if (!isAnswered) reader.parse(bytes)
      else {
        noteActivity(connection)
        if (socket.writableLength > 0) void waitUntilSent(connection).then(() => this.#handleNext(connection))
      }
      if (connection.isHeld) this.#readOn(connection)
    })
    if (!isTaken) connection.isWaiting = false
    // The answer waits for its turn, and what the client sends next waits for the answer.
    else if (connection.isWaiting) hold(connection)
    return isTaken
  }

  /** Lets the connection wait for the turn of its network, if the turn of the event loop has no time left. @returns whether it waits */
  #waitsForTurn(connection: Connection, isShort: boolean): boolean {
    const { network, socket, queued, reader } = connection
    const parseLater = () => {
      connection.isWaiting = false
      // A service that stops has parsed the bytes before, and may have cut the connection.
      if (destroyIfReset(socket) || !connection.isReading || connection.isCut || queued.length > 0) return
      // Parsing may stop the reading again, so it comes last.
      release(connection)
      reader.parse()
    }
    // A service that stops must know the last request of each connection.
    if (this.#isClosing || this.turns.takeTurn(network, isShort, parseLater)) return false
    connection.isWaiting = true
    hold(connection)
    return true
  }

  #limitParsing(connection: Connection): void {
    const { socket, queued } = connection
    limitParsing(socket, {
      acceptsMore: () => acceptsRequests(connection) && connection.sentAhead < maxSentAhead,
      cut: () => cut(connection),
      pausesAfter: (request) => connection.reader.canResume && !this.#isClosing && queued.at(-1)?.request === request,
      refuse: (error) => connection.reader.refuse(error)
    })
  }

  #countUnparsed({ network, socket }: Connection, difference: number): void {
    this.#unparsed.change(network, difference)
    if (difference > 0 && this.#unparsed.isCrowdedOut(network)) socket.destroy()
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
    if (!acceptsRequests(connection)) return
    connection.lastRequest = request
    connection.pendingResponses.add(response)
    // Each emits `close` only once. `once` would allocate three more objects.
    request.on('close', () => noteActivity(connection))
    response.on('close', () => {
      pendingResponses.delete(response)
      noteActivity(connection)
      this.#handleNext(connection)
    })
    if (this.#isClosing) {
      if (hasSentLastResponse(connection)) this.#late.add(request)
      closeAfterLastResponse(connection)
    }
    if (pendingResponses.size === 1 && !connection.sending) {
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
    // One request of a connection starts per turn of the event loop, so that long pipelines do not delay other clients.
    const start = () => {
      if (!destroyIfReset(socket)) this.#readOn(connection)
      const wasRefused = !connection.isReading && !first.request.complete
      if (socket.writable && !wasRefused) this.#handle(first.request, first.response)
    }
    setImmediate(() => this.turns.schedule(connection.network, start))
  }

  /** Parses or reads the next requests if none is waiting. */
  #readOn(connection: Connection): void {
    const { queued, reader, socket } = connection
    if (queued.length === 0) reader.parse()
    if (queued.length > 0 || !connection.isReading) return
    // Unread bytes would make the system reset the connection, and the client could lose its last response.
    if (connection.isCut) stopReading(socket)
    else release(connection)
  }

  #discardQueue(connection: Connection): void {
    connection.queued.length = 0
    connection.reader.discard()
    connection.pendingResponses.clear()
  }
}
