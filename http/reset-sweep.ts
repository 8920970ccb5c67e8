import type { Socket } from 'node:net'
import { destroyIfReset } from './socket-handle.ts'

/** The number of connections that are checked for each new one. */
const checkedPerConnection = 2

/**
 * Finds connections that their clients have reset. Node sees a reset only when it reads or writes, and a connection whose turn or
 * response waits is not read. So a few connections are checked for each new one, in turn. That way connections that
 * were reset are never the majority, and do not use up the connections of the service.
 */
export class ResetSweep {
  readonly #open: ReadonlySet<{ readonly socket: Socket }>
  #next: Iterator<{ readonly socket: Socket }>

  /** @param open the open connections, oldest first */
  constructor(open: ReadonlySet<{ readonly socket: Socket }>) {
    this.#open = open
    this.#next = open.values()
  }

  /** Call this for each new connection. */
  checkSome(): void {
    for (let i = 0; i < checkedPerConnection; i++) {
      const { value: connection } = this.#next.next()
      if (connection) destroyIfReset(connection.socket)
      else this.#next = this.#open.values()
    }
  }
}
