import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Connection {
  readonly socket: Socket
  /** Responses that are not completely sent, in the order of their requests. */
  readonly pendingResponses: Set<ServerResponse>
  /** The latest request whose header fields have arrived. */
  lastRequest: IncomingMessage | undefined
  /** The end of the last request or response, and the bytes received until then. Further bytes belong to the next request. */
  lastActivity: { readonly at: number; readonly bytesRead: number }
  /** When the drain first saw that the sending side is closed. */
  endedAt: number | undefined
  /** Pipelined requests that wait for the responses before theirs. */
  readonly queued: QueuedRequest[]
  /** False once incoming bytes are discarded. */
  isReading: boolean
  /** True once the client pipelined more requests than the limit: nothing more is parsed. */
  isCut: boolean
}

export interface QueuedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const connections = new WeakMap<Socket, Connection>()

/** Starts the record of a connection that was just accepted. */
export function openConnection(socket: Socket): Connection {
  const connection: Connection = {
    socket,
    pendingResponses: new Set(),
    lastRequest: undefined,
    lastActivity: { at: performance.now(), bytesRead: 0 },
    endedAt: undefined,
    queued: [],
    isReading: true,
    isCut: false
  }
  connections.set(socket, connection)
  return connection
}

export function connectionOf(socket: Socket): Connection | undefined {
  return connections.get(socket)
}

/** Discards all further bytes of the connection: no later request is handled, nor the rest of an incomplete one. */
export function stopReading(socket: Socket): void {
  const connection = connections.get(socket)
  if (connection) connection.isReading = false
  socket.removeAllListeners('data')
  // A listener for `data` takes the bytes away from Node's parser, which reads from the handle below the socket.
  socket.on('data', () => undefined)
  socket.resume()
}

/**
 * The state of a connection. Node's own `closeIdleConnections` is wrong about two cases: it takes a connection without any
 * bytes for busy, and one whose response the client has not read yet for idle.
 */
export function stateOf({
  socket,
  pendingResponses,
  lastRequest,
  lastActivity
}: Connection): 'busy' | 'ended' | 'arriving' | 'new' | 'idle' {
  if (socket.writableEnded || socket.destroyed) return 'ended'
  if (pendingResponses.size > 0 || lastRequest?.complete === false) return 'busy'
  if (socket.bytesRead > lastActivity.bytesRead) return 'arriving'
  return lastRequest ? 'idle' : 'new'
}

/** Whether the last response of a connection is sent, or its header section is. */
export function hasSentLastResponse({ socket, pendingResponses }: Connection): boolean {
  return !socket.writable || [...pendingResponses].some((response) => response.headersSent && response.getHeader('connection') === 'close')
}
