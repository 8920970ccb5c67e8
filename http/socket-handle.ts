import type { Socket } from 'node:net'

/** Node's own handle of a socket, which it does not document. */
export interface SocketHandle {
  /** The file descriptor, or -1 on a system that has none. */
  readonly fd: number
  reading: boolean
  /** Bytes of all writes, with the current one. */
  readonly bytesWritten?: number
  /** Bytes of the current write that the operating system has not taken yet. */
  readonly writeQueueSize?: number
  readStop(): void
  close(): void
  /** Closes the socket by a reset. Returns the number of the error, or 0. A handle that is no TCP socket does not have it. */
  reset?(): number
  /** Returns the number of the error, or 0. */
  getpeername?(address: { address?: string }): number
}

/** Node's own handle of a listening socket. */
export interface ListeningHandle {
  /** Node calls it for each client that it has accepted. @param status the number of an error, or 0 */
  onconnection(status: number, client: SocketHandle | undefined): void
}

export function handleOf(socket: Socket): SocketHandle | undefined {
  return (socket as Socket & { readonly _handle?: SocketHandle | null })._handle ?? undefined
}

/** Bytes that the operating system has taken for the client. */
export function takenBytes(socket: Socket): number {
  const { bytesWritten = 0, writeQueueSize = 0 } = handleOf(socket) ?? {}
  return bytesWritten - writeQueueSize
}

/** Cuts a client off. A reset frees the operating system's buffers at once. */
export function cutOff(socket: Socket): void {
  socket.resetAndDestroy()
}

/**
 * The client's address; undefined if the client has reset the connection. The system is asked each time, because Node remembers
 * `remoteAddress`.
 */
export function peerAddress(handle: SocketHandle): string | undefined {
  const peer: { address?: string } = {}
  return (handle.getpeername?.(peer) ?? 0) === 0 ? (peer.address ?? '') : undefined
}

/**
 * Destroys a connection that its client has reset, which Node learns only when it reads or writes.
 * @returns whether the connection is gone
 */
export function destroyIfReset(socket: Socket): boolean {
  const handle = handleOf(socket)
  if (!handle) return true
  const isGone = peerAddress(handle) === undefined
  if (isGone) socket.destroy()
  return isGone
}
