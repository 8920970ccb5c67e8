import { readSync } from 'node:fs'
import { RateTally } from '../fairness/rate-tally.ts'
import { peerAddress, type SocketHandle } from './socket-handle.ts'

/** A network that makes more connections than `max` in a minute is frequent. Its clients are read early. */
const frequent = { max: 600, window: 60_000, maxCallers: 20_000 } as const

/** The most bytes of an early read. Node reads the rest. */
const maxBytes = 32 * 1024

/** The end of a header section. */
const emptyLine = '\r\n\r\n'

const scratch = Buffer.allocUnsafe(maxBytes)

interface EarlyRead {
  readonly bytes: Buffer
  /** Whether the client has ended its side of the connection. */
  readonly hasEnded: boolean
}

/** Reads what a client has sent until now. */
function readEarly({ fd }: SocketHandle): EarlyRead {
  let length = 0
  let hasEnded = false
  try {
    while (length < maxBytes && !hasEnded) {
      const count = readSync(fd, scratch, length, maxBytes - length, null)
      length += count
      hasEnded = count === 0
    }
  } catch {
    // Most often nothing more has arrived yet (EAGAIN). Node meets any other error when it reads.
  }
  return { bytes: Buffer.from(scratch.subarray(0, length)), hasEnded }
}

/** The result of a look at a client that has no socket yet. */
export interface FirstLook {
  /** Whether the client has gone, and needs no answer. */
  readonly isGone: boolean
  /** The bytes that the client has sent. Absent if it was not read. */
  readonly bytes?: Buffer
}

/**
 * Finds clients that need no answer. Any client that has reset its connection needs none. Nor does a client of a frequent network that
 * has ended its side, if it has sent no whole request or would get no answer. Node makes a socket of each client, which is most
 * of the cost of accepting: 500 clients that leave like this 12,000 times a second would keep all others waiting.
 */
export class GoneClients {
  readonly #tally = new RateTally(frequent)
  readonly #isUnanswered: (network: string) => boolean

  /** @param isUnanswered whether no client of a network would be answered at once. Then one that has ended its side gets no answer at all */
  constructor(isUnanswered: (network: string) => boolean) {
    this.#isUnanswered = isUnanswered
  }

  /** Counts a new client, which makes its network more frequent. */
  count(network: string): void {
    this.#tally.count(network)
  }

  look(client: SocketHandle, network: string): FirstLook {
    if (peerAddress(client) === undefined) return { isGone: true }
    if (this.#tally.look(network).current <= frequent.max) return { isGone: false }
    const { bytes, hasEnded } = readEarly(client)
    const isGone = hasEnded && (!bytes.includes(emptyLine) || this.#isUnanswered(network))
    return bytes.length > 0 ? { isGone, bytes } : { isGone }
  }
}
