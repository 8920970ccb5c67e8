/** Limits in characters of orders as JSON. */
export interface MemoryLimits {
  readonly total: number
  /** A single order may be larger. */
  readonly perCustomer: number
  /** An order up to this size never waits, because the turns limit how many of them there are. */
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

/**
 * Limits the characters of large orders that deliveries hold in memory. Customers take turns. A customer that holds its share
 * waits until it holds less, and the others go on.
 */
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
      this.#endTurn(name, customer)
      this.#admit()
    }
  }

  #enter(name: string, customer: Customer, weight: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const order: Waiting = {
        weight,
        enter: () => {
          signal.removeEventListener('abort', leave)
          customer.waiting.shift()
          customer.held += weight
          this.#held += weight
          this.#endTurn(name, customer)
          resolve()
        }
      }
      const leave = () => {
        customer.waiting.splice(customer.waiting.indexOf(order), 1)
        if (isIdle(customer)) this.#customers.delete(name)
        this.#admit()
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      customer.waiting.push(order)
      this.#admit()
    })
  }

  /** Admits orders in turn. If the next one does not fit into the total, the others wait behind it, so that a large order gets its turn. */
  #admit(): void {
    for (let next = this.#next(); next && fits(next.weight, this.#held, this.#limits.total); next = this.#next()) next.enter()
  }

  /** The first waiting order of the first customer whose share has room for it. */
  #next(): Waiting | undefined {
    for (const { held, waiting } of this.#customers.values()) {
      const [first] = waiting
      if (first && fits(first.weight, held, this.#limits.perCustomer)) return first
    }
    return undefined
  }

  /** Moves a customer to the end of the turn order, or forgets it. */
  #endTurn(name: string, customer: Customer): void {
    this.#customers.delete(name)
    if (!isIdle(customer)) this.#customers.set(name, customer)
  }
}

/** An order that is larger than a limit fits alone. */
function fits(weight: number, held: number, limit: number): boolean {
  return held === 0 || held + weight <= limit
}

function isIdle({ held, waiting }: Customer): boolean {
  return held === 0 && waiting.length === 0
}
