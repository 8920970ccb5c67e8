import type { Server } from 'node:net'
import { networkOf } from '../fairness/networks.ts'
import { GoneClients } from './gone-clients.ts'
import { type ListeningHandle, peerAddress, type SocketHandle } from './socket-handle.ts'
import type { WaitingClient } from './waiting-clients.ts'

/** Decides which of the clients that connect get a socket, and when. */
export interface NewClientRules {
  /** Called for each client that Node accepts, also for one that is closed. */
  accepted(): void
  /** Whether a client is reset without being read, because its network connects far too often. */
  isFlooding(address: string, network: string): boolean
  /** Takes a place for one more client of a network. @returns the function that gives it back; undefined if no place is free */
  takePlace(network: string): (() => void) | undefined
  /** Whether no client of a network would be answered at once. Then one that has ended its side gets no answer at all. */
  isUnanswered(network: string): boolean
  /** Calls `setUp` when it is the turn of the network, or `close` if it loses its place before. */
  waitForTurn(network: string, client: WaitingClient): void
}

/** A client that gets a socket now. */
export interface NewClient {
  /** The bytes that it has sent, if they were read before. */
  readonly bytes?: Buffer
  /** Gives its place back. Call it when the socket is closed. */
  readonly leave: () => void
}

/** Closes a client by a reset. To end a connection in order takes the system longer than all that Node does for a client that it refuses. */
function reset(client: SocketHandle): void {
  if (client.reset?.() !== 0) client.close()
}

/**
 * Lets the clients that Node accepts wait for their socket, and closes those that get none.
 * @param server a server that listens
 * @returns a function for the server's `connection` event: it returns the new client, once
 */
export function receiveClients(server: Server, rules: NewClientRules): () => NewClient | undefined {
  const { _handle: listening } = server as unknown as { readonly _handle: ListeningHandle }
  const { onconnection } = listening
  const goneClients = new GoneClients((network) => rules.isUnanswered(network))
  let newClient: NewClient | undefined
  function takeNewClient(): NewClient | undefined {
    const taken = newClient
    newClient = undefined
    return taken
  }

  function setUp(client: SocketHandle, network: string, leave: () => void): void {
    const { isGone, bytes } = goneClients.look(client, network)
    if (isGone) {
      client.close()
      leave()
      return
    }
    newClient = { leave, ...(bytes && { bytes }) }
    onconnection.call(listening, 0, client)
    // Node itself may have refused the client, without the event.
    takeNewClient()?.leave()
  }

  function receive(client: SocketHandle): void {
    const address = peerAddress(client)
    const network = networkOf(address ?? '')
    if (address !== undefined && rules.isFlooding(address, network)) {
      reset(client)
      return
    }
    const leave = address === undefined ? undefined : rules.takePlace(network)
    if (!leave) {
      client.close()
      return
    }
    goneClients.count(network)
    rules.waitForTurn(network, {
      setUp: () => setUp(client, network, leave),
      close: () => {
        client.close()
        leave()
      }
    })
  }

  listening.onconnection = (status, client) => {
    rules.accepted()
    if (client) receive(client)
    else onconnection.call(listening, status, client)
  }
  return takeNewClient
}
