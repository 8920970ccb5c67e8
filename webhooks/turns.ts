/**
 * A customer gets a turn while it has less than this part of the free turns. So a few customers with slow receivers never take
 * all turns: the more of them share the turns, the fewer each gets, and some stay free for newcomers (dynamic thresholds, as in
 * the buffers of network switches: Choudhury and Hahne, 1998).
 */
const part = 1 / 8

/** Turns to serve webhooks, to send events again, or to check URLs. Each takes one for as long as it lasts. */
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

  /** The most turns that a customer can have now. It is at least one, so that a customer without a turn gets the last one. */
  get share(): number {
    return Math.max(1, Math.floor(this.#free * part))
  }

  /** Whether a customer has its share, so that other webhooks may wait for its turns. */
  isCrowded(customer: string): boolean {
    return (this.#taken.get(customer) ?? 0) >= this.share
  }

  /** Whether the customer may take one more turn. */
  mayTake(customer: string): boolean {
    return this.#free > 0 && !this.isCrowded(customer)
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
