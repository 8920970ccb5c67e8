/** Counts the open connections of each network. */
export class NetworkCounts {
  readonly #counts = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  /** The network with the most connections. */
  get busiest(): string | undefined {
    let found: string | undefined
    for (const [network, count] of this.#counts) if (found === undefined || count > (this.#counts.get(found) ?? 0)) found = network
    return found
  }

  add(network: string): void {
    this.#counts.set(network, (this.#counts.get(network) ?? 0) + 1)
    this.#total += 1
  }

  remove(network: string): void {
    const left = (this.#counts.get(network) ?? 0) - 1
    if (left > 0) this.#counts.set(network, left)
    else this.#counts.delete(network)
    this.#total -= 1
  }
}
