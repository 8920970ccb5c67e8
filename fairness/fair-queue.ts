/** Callers that are compared for the next turn. To compare thousands for each item would take longer than small items do. */
const mostCompared = 32

/**
 * A queue that takes one item of a caller at a time, however many items the caller has waiting. Callers take turns: none gets two in a row
 * while another one waits. With `served`, the caller that was served least is next, perhaps several times in a row.
 */
export class FairQueue<T> {
  /** In turn order: the first caller is next. */
  readonly #callers = new Map<string, T[]>()
  readonly #served: ((caller: string) => number) | undefined
  /** The caller of the last turn. It matters only without `served`. */
  #last: string | undefined

  /**
   * @param served returns how much a caller has been served lately. Of the callers that wait the longest for a turn, the one with the
   *   least is next. Callers with equal amounts take turns
   */
  constructor(served?: (caller: string) => number) {
    this.#served = served
  }

  get isEmpty(): boolean {
    return this.#callers.size === 0
  }

  /** How many callers wait. */
  get callers(): number {
    return this.#callers.size
  }

  has(caller: string): boolean {
    return this.#callers.has(caller)
  }

  add(caller: string, item: T): void {
    const waiting = this.#callers.get(caller)
    if (waiting) waiting.push(item)
    else this.#callers.set(caller, [item])
  }

  /** Adds an item that the caller's other items wait for. */
  addFirst(caller: string, item: T): void {
    const waiting = this.#callers.get(caller)
    if (waiting) waiting.unshift(item)
    else this.#callers.set(caller, [item])
  }

  take(): T | undefined {
    const caller = this.#next()
    if (caller === undefined) return undefined
    this.#last = caller
    const waiting = this.#callers.get(caller) ?? []
    const item = waiting.shift()
    this.#callers.delete(caller)
    if (waiting.length > 0) this.#callers.set(caller, waiting)
    return item
  }

  /** @returns whether the item was still waiting */
  remove(caller: string, item: T): boolean {
    const waiting = this.#callers.get(caller) ?? []
    const index = waiting.indexOf(item)
    if (index < 0) return false
    waiting.splice(index, 1)
    if (waiting.length === 0) this.#callers.delete(caller)
    return true
  }

  takeAll(): T[] {
    const all = [...this.#callers.values()].flat()
    this.#callers.clear()
    return all
  }

  #next(): string | undefined {
    if (!this.#served) {
      const [first, second] = this.#callers.keys()
      return first === this.#last ? (second ?? first) : first
    }
    let next: string | undefined
    let least = Number.POSITIVE_INFINITY
    let compared = 0
    for (const caller of this.#callers.keys()) {
      if (compared++ === mostCompared) break
      const served = this.#served(caller)
      if (served >= least) continue
      least = served
      next = caller
    }
    return next
  }
}
