/** Amounts by name, and their sum. A name that has nothing left is forgotten, so that names that come once take no memory. */
export class Amounts {
  readonly #amounts = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  /** The name that has the most. */
  get largest(): string | undefined {
    let found: string | undefined
    for (const [name, amount] of this.#amounts) if (found === undefined || amount > this.of(found)) found = name
    return found
  }

  of(name: string): number {
    return this.#amounts.get(name) ?? 0
  }

  /** @param amount negative to take it away */
  add(name: string, amount: number): void {
    const sum = this.of(name) + amount
    if (sum > 0) this.#amounts.set(name, sum)
    else this.#amounts.delete(name)
    this.#total += amount
  }
}
