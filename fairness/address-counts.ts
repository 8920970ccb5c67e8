/** Counts the open connections of each address. */
export class AddressCounts {
  readonly #counts = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  /** The address with the most connections. */
  get busiest(): string | undefined {
    let found: string | undefined
    for (const [address, count] of this.#counts) if (found === undefined || count > (this.#counts.get(found) ?? 0)) found = address
    return found
  }

  add(address: string): void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
    this.#total += 1
  }

  remove(address: string): void {
    const left = (this.#counts.get(address) ?? 0) - 1
    if (left > 0) this.#counts.set(address, left)
    else this.#counts.delete(address)
    this.#total -= 1
  }
}
