/** A queue that takes one item of each caller in turn, however many items each of them has waiting. */
export class FairQueue<T> {
  /** In turn order: the first caller is next. */
  readonly #callers = new Map<string, T[]>()

  get isEmpty(): boolean {
    return this.#callers.size === 0
  }

  add(caller: string, item: T): void {
    const waiting = this.#callers.get(caller)
    if (waiting) waiting.push(item)
    else this.#callers.set(caller, [item])
  }

  take(): T | undefined {
    const [first] = this.#callers
    if (!first) return undefined
    const [caller, waiting] = first
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
}
