import { readSync } from 'node:fs'
import type { Server } from 'node:net'
import { networkOf } from '../fairness/networks.ts'
import { RateTally } from '../fairness/rate-tally.ts'
import { type ListeningHandle, peerAddress, type SocketHandle } from './socket-handle.ts'

/**
 * From a network that makes more connections than `max` in a minute, a client that has ended its connection is closed without an
 * answer. A client that ends its side right after its request seldom gets an answer anyway: Node aborts what it has not answered.
 */
const frequent = { max: 600, window: 60_000, maxCallers: 20_000 } as const

/** The size of an early read, in bytes. */
const maxBytes = 16 * 1024

const scratch = Buffer.allocUnsafe(maxBytes)

/** Reads what a client has sent until now. @returns undefined if it has also ended its side of the connection */
function readEarly({ fd }: SocketHandle): Buffer | undefined {
  let bytes = scratch.subarray(0, 0)
  try {
    const count = readSync(fd, scratch)
    if (count === 0) return undefined
    bytes = Buffer.from(scratch.subarray(0, count))
    const more = readSync(fd, scratch)
    return more === 0 ? undefined : Buffer.concat([bytes, scratch.subarray(0, more)])
  } catch {
    // Most often nothing more has arrived yet (EAGAIN). Node meets any other error when it reads.
    return bytes
  }
}

/**
 * Closes clients that are gone before Node makes a socket of them, which takes most of the time of accepting: those that have reset
 * their connection, and from a network with very many new connections also those that have ended theirs. 500 clients that do this
 * and come again, 12,000 times a second, would fill the system's queue of new connections, and others would wait in it.
 * @param server a server that listens
 * @param accepted called for each client, also for one that is closed
 * @returns a function for the server's `connection` event: it returns the bytes that the new client has sent, if they were read here
 */
export function closeGoneClients(server: Server, accepted: () => void): () => Buffer | undefined {
  const { _handle: listening } = server as unknown as { readonly _handle: ListeningHandle }
  const { onconnection } = listening
  const tally = new RateTally(frequent)
  let early: Buffer | undefined
  listening.onconnection = (status, client) => {
    accepted()
    early = undefined
    if (client) {
      const address = peerAddress(client)
      if (address === undefined) return client.close()
      if (tally.count(networkOf(address)).current > frequent.max) {
        early = readEarly(client)
        if (!early) return client.close()
      }
    }
    onconnection.call(listening, status, client)
  }
  return () => early
}
