import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../fairness/networks.ts'
import { ConnectionReader, type ReaderOptions, takeData } from './connection-reader.ts'
import { handleOf } from './socket-handle.ts'

export interface Connection {
  readonly socket: Socket
  /** The network of the client's address. */
  readonly network: string
  /** Responses that are not completely sent, in the order of their requests. */
  readonly pendingResponses: Set<ServerResponse>
  /** Whether what was last read waits, unparsed, for the turn of the network. */
  isWaiting: boolean
  /** Set while bytes of a response without a ServerResponse wait in this process. It resolves when they are sent, or the client has gone. */
  sending: Promise<void> | undefined
  /** Bytes that were read before Node had a socket, which does not count them. */
  bytesReadEarly: number
  /** The latest request whose header fields have arrived. */
  lastRequest: IncomingMessage | undefined
  /** The end of the last request or response, and the bytes received until then. Further bytes belong to the next request. */
  lastActivity: { readonly at: number; readonly bytesRead: number }
  /** When the drain first saw that the sending side is closed. */
  endedAt: number | undefined
  /** Pipelined requests that wait for the responses before theirs. */
  readonly queued: QueuedRequest[]
  /** How many requests were queued since `release` last let the connection read on. */
  sentAhead: number
  /** It keeps the bytes that were read after the queued requests. */
  readonly reader: ConnectionReader
  /** False once incoming bytes are discarded. */
  isReading: boolean
  /** True once the client pipelined more requests than the limit: nothing more is parsed. */
  isCut: boolean
  /** Whether reading is stopped until `release`. */
  isHeld: boolean
  /** Whether its pending response is a refusal that waits because the caller has sent far too many requests. */
  isRefusalDelayed: boolean
}

export interface QueuedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const connections = new WeakMap<Socket, Connection>()

/** Starts the record of a connection that was just accepted. */
export function openConnection(socket: Socket, reading: ReaderOptions): Connection {
  const connection: Connection = {
    socket,
    network: networkOf(socket.remoteAddress ?? ''),
    pendingResponses: new Set(),
    isWaiting: false,
    sending: undefined,
    bytesReadEarly: 0,
    lastRequest: undefined,
    lastActivity: { at: performance.now(), bytesRead: 0 },
    endedAt: undefined,
    queued: [],
    sentAhead: 0,
    reader: new ConnectionReader(socket, reading),
    isReading: true,
    isCut: false,
    isHeld: false,
    isRefusalDelayed: false
  }
  connections.set(socket, connection)
  abortWithoutStack(socket)
  keepHeld(connection)
  return connection
}

/** The number of bytes that the client has sent and that were read from the connection. */
export function bytesReadFrom({ socket, bytesReadEarly }: Connection): number {
  return socket.bytesRead + bytesReadEarly
}

/** Notes that a request or a response has ended. What arrives from now on belongs to the next request. */
export function noteActivity(connection: Connection): void {
  connection.lastActivity = { at: performance.now(), bytesRead: bytesReadFrom(connection) }
}

export function connectionOf(socket: Socket): Connection | undefined {
  return connections.get(socket)
}

/** Node resumes a socket whenever it discards a request's body, also while later requests wait. Then it would read on at full speed. */
function keepHeld(connection: Connection): void {
  const { socket } = connection
  const resume = socket.resume.bind(socket)
  socket.resume = () => (connection.isHeld ? socket : resume())
  // The event comes later than the call, so the socket may be paused by now.
  socket.on('resume', () => {
    const handle = handleOf(socket)
    if (!socket.isPaused() || !handle?.reading) return
    handle.reading = false
    handle.readStop()
  })
}

/** Reads nothing more until `release`. */
export function hold(connection: Connection): void {
  connection.isHeld = true
  connection.socket.pause()
}

export function release(connection: Connection): void {
  connection.isHeld = false
  connection.sentAhead = 0
  connection.socket.resume()
}

/** Sockets whose next bytes are discarded. */
const discarding: Socket[] = []

/** Reads from one of these sockets in each turn of the event loop, so that clients that go on sending cost little, however many they are. */
function discardNext(): void {
  const socket = discarding.shift()
  if (socket && !socket.destroyed) socket.resume()
  if (discarding.length > 0) setImmediate(discardNext)
}

/** Discards all further bytes of the connection: no later request is handled, nor the rest of an incomplete one. */
export function stopReading(socket: Socket): void {
  const connection = connections.get(socket)
  if (connection) {
    connection.isReading = false
    connection.isHeld = false
    connection.reader.discard()
  }
  const discard = () => {
    socket.pause()
    discarding.push(socket)
    if (discarding.length === 1) setImmediate(discardNext)
  }
  // When the client ends, Node would end the connection before the last response. Now that response or the refusal ends it.
  for (const listener of socket.listeners('end')) {
    if (listener.name === 'bound socketOnEnd') socket.off('end', listener as () => void)
  }
  // From now on nobody parses what arrives.
  takeData(socket, discard)
  discard()
}

/** Whether a request, or a part of its response, still waits in this process. */
export function isAnswering({ pendingResponses, isWaiting, sending }: Connection): boolean {
  return pendingResponses.size > 0 || isWaiting || sending !== undefined
}

/** Whether the next byte belongs to a new request, and all responses before it are sent. */
export function isBetweenRequests(connection: Connection): boolean {
  const { socket, reader, lastRequest } = connection
  return reader.isAfterEmptyLine && lastRequest?.complete === true && socket.writable && !isAnswering(connection)
}

/** Waits until all bytes are sent that were written without a ServerResponse. */
export function waitUntilSent(connection: Connection): Promise<void> {
  const { socket } = connection
  const { timeout = 0 } = socket
  // As for any other response, only SEND_TIMEOUT limits how long the client reads it.
  socket.setTimeout(0)
  connection.sending = new Promise((resolve) => {
    socket.write('', () => {
      connection.sending = undefined
      // If a response is pending, Node itself sets the timeout again.
      if (connection.pendingResponses.size === 0) socket.setTimeout(timeout)
      resolve()
    })
  })
  return connection.sending
}

/**
 * The state of a connection. Node's own `closeIdleConnections` is wrong about two cases: it takes a connection without any
 * bytes for busy, and one whose response the client has not read yet for idle.
 */
export function stateOf(connection: Connection): 'busy' | 'ended' | 'arriving' | 'new' | 'idle' {
  const { socket, lastRequest, lastActivity } = connection
  if (socket.writableEnded || socket.destroyed) return 'ended'
  if (isAnswering(connection) || lastRequest?.complete === false) return 'busy'
  if (bytesReadFrom(connection) > lastActivity.bytesRead) return 'arriving'
  return lastRequest ? 'idle' : 'new'
}

/** Whether the last response of a connection is sent, or its header section is. */
export function hasSentLastResponse({ socket, pendingResponses }: Connection): boolean {
  return !socket.writable || [...pendingResponses].some((response) => response.headersSent && response.getHeader('connection') === 'close')
}

/** Only the last pending response gets `Connection: close`, because Node sends nothing after it. */
export function closeAfterLastResponse({ pendingResponses }: Connection): void {
  const open = [...pendingResponses].filter(({ headersSent }) => !headersSent)
  for (const response of open) response.removeHeader('connection')
  open.at(-1)?.setHeader('connection', 'close')
}

/** Node calls destroySoon after the last response. If the client still sends, the reset would lose the unread response. */
export function endInsteadOfDestroy({ socket }: Connection): void {
  socket.destroySoon = () => socket.end()
}

/** Whether a further request can be answered, and has not been refused together with all that follows. */
export function acceptsRequests({ socket, isReading }: Connection): boolean {
  return socket.writable && isReading
}

/**
 * Ends the parsing. The last queued request gets the last response. If the sending side is closed, what arrives is discarded,
 * because unread bytes would make the system reset the connection.
 */
export function cut(connection: Connection): void {
  const { socket, pendingResponses } = connection
  if (socket.destroyed || !connection.isReading) return
  if (!socket.writable) {
    stopReading(socket)
    return
  }
  connection.isCut = true
  hold(connection)
  ;[...pendingResponses].at(-1)?.setHeader('connection', 'close')
}

/**
 * When a connection closes, Node creates an error for each request without a response. Nobody reads the stack traces of these
 * errors. While clients reset many connections, capturing them took two fifths of the time (bench/README.md).
 */
function abortWithoutStack(socket: Socket): void {
  const abort = socket.listeners('close').find(({ name }) => name === 'bound socketOnClose')
  if (!abort) return
  const wrapped = () => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    try {
      abort()
    } finally {
      Error.stackTraceLimit = limit
    }
  }
  socket.removeListener('close', abort as () => void)
  // Node still finds its own listener by this property when it removes it.
  socket.prependListener('close', Object.assign(wrapped, { listener: abort }))
}
