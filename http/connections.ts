import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turnOfTheLoop } from 'node:timers/promises'

export interface Connection {
  readonly socket: Socket
  /** Answers that are not yet sent, in the order of their requests. */
  readonly pendingResponses: Set<ServerResponse>
  /** The latest request whose header fields have arrived. */
  last: IncomingMessage | undefined
  /** Since when it waits for a request, and how many bytes had come by then: those of a next request come on top. */
  waits: { readonly since: number; readonly bytesRead: number }
  /** When it was seen that nothing more will be sent on it. */
  endedAt: number | undefined
  /** Requests that were sent ahead and wait for the answers before theirs. */
  readonly ahead: Ahead[]
  /** Whether what comes on it is read, or thrown away. */
  isRead: boolean
  /** More was sent ahead than may be: nothing more is read until the last answer is due. */
  isCut: boolean
}

interface Ahead {
  readonly request: IncomingMessage
  readonly handle: () => void
}

const connections = new WeakMap<Socket, Connection>()

/** Requests that one connection may send ahead. */
const mostAhead = 100

/** Of all connections together. */
const mostAheadOfAll = 10_000

/** Node's parser of a connection, as `http.Server` sets it up. What `onIncoming` returns goes to llhttp: 2 ends the parsing. */
interface Parsing {
  readonly parser?: { onIncoming(request: IncomingMessage, keepAlive: boolean): number } | null
}

export function connectionOf(socket: Socket): Connection | undefined {
  return connections.get(socket)
}

/** Throws away whatever else comes on the connection: neither a request that has not arrived yet, nor the rest of one, is handled. */
export function stopReading(socket: Socket): void {
  const connection = connections.get(socket)
  if (connection) connection.isRead = false
  socket.removeAllListeners('data')
  // Node's parser takes the bytes from below the socket until somebody listens for them.
  socket.on('data', () => undefined)
  socket.resume()
}

/** Milliseconds. Together they are well below the 1.5 seconds in which a service without requests in flight ends. */
const patience = {
  /** A turn of the event loop in which nobody connected is a moment to close the listener, if it was this short: */
  turn: 1,
  /** for so long; then any such turn will do, */
  quiet: 200,
  /** and at last, with so many turns at least, any turn at all: clients can connect faster than they are accepted. */
  crowd: 400,
  /** How long the request of a client that has just connected, or the rest of a request line and header fields, may take. */
  request: 400,
  /** How long a client has to read its last answer and close: one that still sends would be reset and could lose the answer. */
  farewell: 300,
  /** Between two looks at the connections. */
  look: 20
} as const

/** Turns of the event loop that a machine too busy for more gives to those who have connected: one is accepted a turn. */
const leastTurns = 64

/**
 * What a connection is doing. Node's own `closeIdleConnections` takes one that has sent nothing for busy, and one whose
 * answer is written but not yet taken by its client for idle.
 */
function stateOf({ socket, pendingResponses, last, waits }: Connection): 'busy' | 'ended' | 'arriving' | 'new' | 'idle' {
  if (socket.writableEnded || socket.destroyed) return 'ended'
  if (pendingResponses.size > 0 || last?.complete === false) return 'busy'
  if (socket.bytesRead > waits.bytesRead) return 'arriving'
  return last ? 'idle' : 'new'
}

/** The connections of a server, which can be taken leave of without resetting any (RFC 9112 section 9.6). */
export class Connections {
  readonly #server: Server
  readonly #refuse: (socket: Socket) => void
  readonly #open = new Set<Connection>()
  readonly #late = new WeakSet<IncomingMessage>()
  #leaving = false
  #knocked = false
  #ahead = 0
  #held: Promise<void> | undefined

  /** @param refuse answers who has sent a part of a request only, and ends the connection */
  constructor(server: Server, refuse: (socket: Socket) => void) {
    this.#server = server
    this.#refuse = refuse
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.on('drop', () => {
      this.#knocked = true
    })
    // Accepting can fail when the process or the machine has no descriptor left; who waits is accepted when it has.
    server.on('error', () => undefined)
    const handlers = server.listeners('request')
    server.removeAllListeners('request')
    server.on('request', (request, response) => {
      this.#receive(request, response, () => {
        for (const handle of handlers) handle.call(server, request, response)
      })
    })
  }

  get open(): Iterable<Connection> {
    return this.#open
  }

  /** Answers that are not yet sent. */
  get pendingResponses(): ServerResponse[] {
    return [...this.#open].flatMap(({ pendingResponses }) => [...pendingResponses])
  }

  /** Resolves at once, but while the last clients are being let in. */
  get held(): Promise<void> | undefined {
    return this.#held
  }

  /** Whether a request came behind the last answer of its connection, so that it must not be processed. */
  isLate(request: IncomingMessage): boolean {
    return this.#late.has(request)
  }

  /** From now on each answer is the last of its connection, and says so. */
  takeLeave(): void {
    this.#leaving = true
    for (const connection of this.#open) {
      this.#closeGently(connection)
      this.#announce(connection)
    }
  }

  /**
   * Closes the listener, then each connection once nothing is in flight on it. Resolves when none is left.
   * @param grace how long a request may take of which a part, or only its connection, is there; in milliseconds
   */
  async drain(grace: number = patience.request): Promise<void> {
    await this.#closeListener()
    const closedAt = performance.now()
    while (this.#open.size > 0) {
      // Now every socket has just been read: no request that has arrived is overlooked.
      await turnOfTheLoop()
      for (const connection of this.#open) this.#leave(connection, closedAt, grace)
      await sleep(patience.look)
    }
  }

  /**
   * The system resets who has connected but is not yet accepted when the listener closes, and Node accepts one client a turn
   * of the event loop. So nothing is processed until a turn finds nobody, and the listener is closed in the same breath.
   */
  async #closeListener(): Promise<void> {
    let letGo: (() => void) | undefined
    this.#held = new Promise((resolve) => {
      letGo = resolve
    })
    // Whatever part of its turn the event loop is in, those that are counted begin here and have looked at the listener.
    await turnOfTheLoop()
    const since = performance.now()
    for (let turns = 1, isOver = false; !isOver; turns++) {
      this.#knocked = false
      const begun = performance.now()
      await turnOfTheLoop()
      const now = performance.now()
      const isQuiet = !this.#knocked && (now - begun < patience.turn || now - since > patience.quiet)
      isOver = isQuiet || (now - since > patience.crowd && turns > leastTurns)
    }
    // Not as an HTTP server, which would destroy the connections that it takes for idle.
    NetServer.prototype.close.call(this.#server)
    this.#held = undefined
    letGo?.()
  }

  #accept(socket: Socket): Connection {
    this.#knocked = true
    const connection: Connection = {
      socket,
      pendingResponses: new Set(),
      last: undefined,
      waits: { since: performance.now(), bytesRead: 0 },
      endedAt: undefined,
      ahead: [],
      isRead: true,
      isCut: false
    }
    connections.set(socket, connection)
    this.#open.add(connection)
    // Node does not listen to a socket that it hands over, as for CONNECT, and its error would end the process.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#open.delete(connection)
      this.#forget(connection)
    })
    // Asked now, Node remembers it. A connection that was reset has none: there is nobody to answer.
    if (socket.remoteAddress === undefined) socket.destroy()
    if (this.#leaving) this.#closeGently(connection)
    this.#boundParsing(connection)
    return connection
  }

  /**
   * Node parses all that it has read at once, and 64 KiB hold 3,600 requests: parsing ends with the first one too many. The
   * connection ends with the answers to those before it, and a client sends the rest anew (RFC 9112 section 9.3.2).
   */
  #boundParsing(connection: Connection): void {
    const { socket, ahead } = connection
    const { parser } = socket as Socket & Parsing
    if (!parser) return
    const { onIncoming } = parser
    parser.onIncoming = (request, keepAlive) => {
      const isFull = ahead.length >= mostAhead || (ahead.length > 0 && this.#ahead >= mostAheadOfAll)
      if (!isFull) return onIncoming(request, keepAlive)
      connection.isCut = true
      ;[...connection.pendingResponses].at(-1)?.setHeader('connection', 'close')
      return 2
    }
  }

  /**
   * Requests of one connection are handled one at a time (RFC 9112 section 9.3.2): Node parses all that has arrived, and tells
   * nobody when the answer to one that is not yet due will never be sent.
   */
  #receive(request: IncomingMessage, response: ServerResponse, handle: () => void): void {
    const { socket } = request
    const connection = connections.get(socket) ?? this.#accept(socket)
    const { ahead, pendingResponses } = connection
    if (socket.destroyed) return
    const settle = () => {
      connection.waits = { since: performance.now(), bytesRead: socket.bytesRead }
    }
    connection.last = request
    connection.pendingResponses.add(response)
    request.once('close', settle)
    response.once('close', () => {
      pendingResponses.delete(response)
      settle()
      this.#next(connection)
    })
    if (this.#leaving) {
      if (isOver(connection)) this.#late.add(request)
      this.#announce(connection)
    }
    if (pendingResponses.size === 1) {
      handle()
      return
    }
    ahead.push({ request, handle })
    this.#ahead += 1
    socket.pause()
  }

  #next(connection: Connection): void {
    const { ahead, socket } = connection
    if (socket.destroyed || socket.writableEnded) {
      this.#forget(connection)
      return
    }
    const first = ahead.shift()
    if (!first) return
    this.#ahead -= 1
    if (ahead.length === 0) {
      // A client that still sends would be reset and could lose the last answer.
      if (connection.isCut) stopReading(socket)
      else socket.resume()
    }
    // A turn for each, or who sends the most ahead is served before everybody who comes meanwhile.
    setImmediate(() => {
      const wasRefused = !connection.isRead && !first.request.complete
      if (!socket.destroyed && !wasRefused) first.handle()
    })
  }

  #forget(connection: Connection): void {
    this.#ahead -= connection.ahead.length
    connection.ahead.length = 0
    connection.pendingResponses.clear()
  }

  /** The last of pipelined requests has the last answer: Node sends nothing behind one that closes the connection. */
  #announce({ pendingResponses }: Connection): void {
    const open = [...pendingResponses].filter(({ headersSent }) => !headersSent)
    for (const response of open) response.removeHeader('connection')
    open.at(-1)?.setHeader('connection', 'close')
  }

  /** After a last answer Node destroys the socket by this method, and with it what the client has not read if it still sends. */
  #closeGently({ socket }: Connection): void {
    socket.destroySoon = () => socket.end()
  }

  #leave(connection: Connection, closedAt: number, grace: number): void {
    const { socket, waits } = connection
    const now = performance.now()
    switch (stateOf(connection)) {
      case 'busy':
        return
      case 'idle':
        socket.end()
        return
      case 'new':
        // A connection that waits to be read may have sent its request long ago: its time begins when it is read.
        if (socket.isPaused()) connection.waits = { since: now, bytesRead: 0 }
        else if (now - waits.since > grace) socket.end()
        return
      case 'arriving':
        if (now - closedAt > grace) this.#refuse(socket)
        return
      case 'ended':
        connection.endedAt ??= now
        if (now - connection.endedAt > patience.farewell) socket.destroy()
    }
  }
}

/** Whether the last answer of a connection has been given, or begun. */
function isOver({ socket, pendingResponses }: Connection): boolean {
  return !socket.writable || [...pendingResponses].some((response) => response.headersSent && response.getHeader('connection') === 'close')
}
