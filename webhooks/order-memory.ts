/** Characters of orders. */
export interface MemoryLimits {
  readonly total: number
  /** One customer holds more only with a single order that is larger. */
  readonly perCustomer: number
  /** An order up to this size never waits: the turns limit how many of them there are. */
  readonly small: number
}

interface Waiting {
  readonly weight: number
  readonly enter: () => void
}

interface Customer {
  held: number
  readonly waiting: Waiting[]
}

/** Limits the large orders that deliveries hold in memory. Customers take turns, and a customer that holds its share keeps nobody waiting. */
export class OrderMemory {
  readonly #limits: MemoryLimits
  /** In turn order: the first customer is next. */
  readonly #customers = new Map<string, Customer>()
  #held = 0

  constructor(limits: MemoryLimits) {
    this.#limits = limits
  }

  /**
   * Runs work when there is memory for an order. An event without an order, or with a small one, never waits.
   * @param signal ends the wait: then its reason is thrown
   */
  async with<T>(name: string, weight: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (weight <= this.#limits.small) return work()
    const customer = this.#customers.get(name) ?? { held: 0, waiting: [] }
    this.#customers.set(name, customer)
    await this.#enter(name, customer, weight, signal)
    try {
      return await work()
    } finally {
      customer.held -= weight
      this.#held -= weight
      // The customer that has just had a turn goes to the end of the turn order.
      this.#customers.delete(name)
      this.#customers.set(name, customer)
      this.#forget(name, customer)
      this.#admit()
    }
  }

  #enter(name: string, customer: Customer, weight: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        weight,
        enter: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
      }
      const leave = () => {
        customer.waiting.splice(customer.waiting.indexOf(one), 1)
        this.#forget(name, customer)
        this.#admit()
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      customer.waiting.push(one)
      this.#admit()
    })
  }

  /** Lets in whoever is next, until the next has to wait for others. Later ones wait behind it, so that a large order gets its turn. */
  #admit(): void {
    for (let next = this.#next(); next && this.#fits(next[1], this.#held, this.#limits.total); next = this.#next()) {
      const [name, customer, { weight, enter }] = [next[0], next[2], next[1]]
      customer.waiting.shift()
      customer.held += weight
      this.#held += weight
      this.#customers.delete(name)
      this.#customers.set(name, customer)
      enter()
    }
  }

  #next(): readonly [string, Waiting, Customer] | undefined {
    for (const [name, customer] of this.#customers) {
      const [first] = customer.waiting
      if (first && this.#fits(first, customer.held, this.#limits.perCustomer)) return [name, first, customer]
    }
    return undefined
  }

  /** An order that is larger than a limit fits alone. */
  #fits({ weight }: Waiting, held: number, limit: number): boolean {
    return held === 0 || held + weight <= limit
  }

  #forget(name: string, { held, waiting }: Customer): void {
    if (held === 0 && waiting.length === 0) this.#customers.delete(name)
  }
}
