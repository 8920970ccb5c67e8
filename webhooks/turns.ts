/**
 * A customer gets a turn while it has less than this part of the turns that are free. So a few customers with slow receivers
 * never take all turns: where many share them, each has fewer, and some stay free for whoever comes (dynamic thresholds, as in
 * the buffers of network switches: Choudhury and Hahne, 1998).
 */
const part = 1 / 8

/** The turns in which webhooks are served. Each webhook that is served has one. */
export class Turns {
  readonly #total: number
  readonly #taken = new Map<string, number>()
  #free: number

  constructor(total: number) {
    this.#total = total
    this.#free = total
  }

  get free(): number {
    return this.#free
  }

  get taken(): number {
    return this.#total - this.#free
  }

  /** The most turns that a customer has now before it waits. A customer that has none always gets the last one. */
  get share(): number {
    return Math.max(1, Math.floor(this.#free * part))
  }

  /** Whether others, or other webhooks of the same customer, may be waiting for a turn of the customer. */
  isCrowded(customer: string): boolean {
    return (this.#taken.get(customer) ?? 0) >= this.share
  }

  take(customer: string): void {
    this.#taken.set(customer, (this.#taken.get(customer) ?? 0) + 1)
    this.#free -= 1
  }

  giveBack(customer: string): void {
    const left = (this.#taken.get(customer) ?? 0) - 1
    if (left > 0) this.#taken.set(customer, left)
    else this.#taken.delete(customer)
    this.#free += 1
  }
}
