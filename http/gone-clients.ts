import { readSync } from 'node:fs'
import type { Server } from 'node:net'
import { networkOf } from '../fairness/networks.ts'
import { RateTally } from '../fairness/rate-tally.ts'
import { type ListeningHandle, peerAddress, type SocketHandle } from './socket-handle.ts'

/** A network that makes more connections than `max` in a minute is frequent. Its clients are read early. */
const frequent = { max: 600, window: 60_000, maxCallers: 20_000 } as const

/** The size of an early read, in bytes: more than a header section can have, so that its refusal is the same as after Node's own read. */
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

/** Closes a client by a reset. To end a connection in order takes the system longer than all that Node does for a client that it refuses. */
function reset(client: SocketHandle): void {
  if (client.reset?.() !== 0) client.close()
}

/** The options of `closeGoneClients`. */
export interface GoneClientOptions {
  /** Called for each client, also for one that is closed. */
  accepted(): void
  /** Whether a client is closed without being read, because its network connects far too often. */
  isFlooding(address: string, network: string): boolean
  /** Whether there is room for one more client of a network. If so, the client counts until its socket is closed, or `left` is called. */
  admits(network: string): boolean
  /** A client that was admitted is closed and gets no socket. */
  left(network: string): void
  /** Whether nobody of a network would be answered at once, so that a client that has ended its side gets no answer at all. */
  isUnanswered(network: string): boolean
  /** Calls `setUp` when it is the turn of the network: to make a socket takes longer than to accept a client. */
  inTurn(network: string, client: SocketHandle, setUp: () => void): void
}

/**
 * Closes clients that need no answer before Node makes a socket of them, which is most of the cost of accepting. These are clients
 * that have reset their connection, and clients of a network that floods the service. From a frequent network they are also clients
 * that have ended their side and have sent no whole request, or would get no answer. Otherwise 500 clients that do this 12,000 times a
 * second fill the system's queue of new connections, and others wait in it.
 * @param server a server that listens
 * @returns a function for the server's `connection` event: it returns the bytes that were read here from the new client, if any
 */
export function closeGoneClients(
  server: Server,
  { accepted, isFlooding, admits, left, isUnanswered, inTurn }: GoneClientOptions
): () => Buffer | undefined {
  const { _handle: listening } = server as unknown as { readonly _handle: ListeningHandle }
  const { onconnection } = listening
  const tally = new RateTally(frequent)
  let early: Buffer | undefined
  function hasLeft(client: SocketHandle, network: string): boolean {
    if (peerAddress(client) === undefined) return true
    if (tally.look(network).current <= frequent.max) return false
    const { bytes, hasEnded } = readEarly(client)
    if (bytes.length > 0) early = bytes
    return hasEnded && (!bytes.includes(emptyLine) || isUnanswered(network))
  }
  listening.onconnection = (status, client) => {
    accepted()
    const address = client && peerAddress(client)
    const network = networkOf(address ?? '')
    if (!client) onconnection.call(listening, status, client)
    else if (address !== undefined && isFlooding(address, network)) reset(client)
    else if (address === undefined || !admits(network)) client.close()
    else {
      tally.count(network)
      inTurn(network, client, () => {
        early = undefined
        if (!hasLeft(client, network)) {
          onconnection.call(listening, status, client)
          return
        }
        client.close()
        left(network)
      })
    }
  }
  return () => early
}
