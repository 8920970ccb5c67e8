import type { FairScheduler } from '../fairness/fair-scheduler.ts'

/** A client that Node has accepted. One of the functions is called, once. */
export interface WaitingClient {
  /** Makes a socket of it. */
  setUp(): void
  close(): void
}

/**
 * Clients that Node has accepted and that have no socket yet. To make a socket takes longer than to accept a client. So networks take
 * turns for sockets: otherwise a newcomer would wait for those of all clients that connected before it.
 */
export class WaitingClients {
  readonly #turns: FairScheduler
  readonly #byNetwork = new Map<string, Set<WaitingClient>>()

  constructor(turns: FairScheduler) {
    this.#turns = turns
  }

  get isEmpty(): boolean {
    return this.#byNetwork.size === 0
  }

  /** Sets the client up when it is the turn of its network, unless it is closed before. */
  add(network: string, client: WaitingClient): void {
    const clients = this.#byNetwork.get(network) ?? new Set()
    this.#byNetwork.set(network, clients.add(client))
    this.#turns.schedule(network, () => {
      if (this.#remove(network, client)) client.setUp()
    })
  }

  /** Closes the client of the network that has waited longest. @returns whether one waited */
  closeFirst(network: string): boolean {
    const [client] = this.#byNetwork.get(network) ?? []
    if (!client) return false
    this.#remove(network, client)
    client.close()
    return true
  }

  #remove(network: string, client: WaitingClient): boolean {
    const clients = this.#byNetwork.get(network)
    const isWaiting = clients?.delete(client) ?? false
    if (clients?.size === 0) this.#byNetwork.delete(network)
    return isWaiting
  }
}
