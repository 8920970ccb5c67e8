import type { Socket } from 'node:net'
import { type Connection, stateOf } from './connection.ts'
import { destroyIfReset } from './socket-handle.ts'

/** Milliseconds for the client to read its last response and close. Closing first would reset a client that still sends, and lose the response. */
const timeToClose = 300

interface Closing {
  /** When the listener closed. */
  readonly closedAt: number
  /** Milliseconds for an incomplete header section, or for the first request of a new connection. */
  readonly grace: number
  /** Answers a client that has sent only a part of a request, and ends the connection. */
  refuse(socket: Socket): void
}

/** Ends a connection of a service that stops, unless a request is answered or may still arrive. */
export function closeIfIdle(connection: Connection, { closedAt, grace, refuse }: Closing): void {
  const { socket, lastActivity } = connection
  const now = performance.now()
  if (destroyIfReset(socket)) return
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
      if (now - closedAt > grace) refuse(socket)
      return
    case 'ended':
      connection.endedAt ??= now
      if (now - connection.endedAt > timeToClose) socket.destroy()
  }
}
