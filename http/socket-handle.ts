import type { Socket } from 'node:net'

/** Node's own handle of a socket, which it does not document. */
interface SocketHandle {
  reading: boolean
  /** Bytes of the current write that the operating system has not taken yet. */
  readonly writeQueueSize?: number
  readStop(): void
  /** Returns the number of the error, or 0. */
  getpeername?(address: object): number
}

export function handleOf(socket: Socket): SocketHandle | undefined {
  return (socket as Socket & { readonly _handle?: SocketHandle | null })._handle ?? undefined
}

/**
 * Destroys a connection that its client has reset, which Node learns only when it reads or writes. The system is asked each time,
 * because Node remembers `remoteAddress`.
 * @returns whether the connection is gone
 */
export function destroyIfReset(socket: Socket): boolean {
  const handle = handleOf(socket)
  if (!handle) return true
  const isReset = (handle.getpeername?.({}) ?? 0) !== 0
  if (isReset) socket.destroy()
  return isReset
}
