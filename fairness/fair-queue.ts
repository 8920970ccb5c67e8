/** Items of several callers, taken in turn: one of each, however many one of them has waiting. */
export class FairQueue<T> {
  /** In the order of their turns. */
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
    const [next] = this.#callers
    if (!next) return undefined
    const [caller, waiting] = next
    const item = waiting.shift()
    this.#callers.delete(caller)
    if (waiting.length > 0) this.#callers.set(caller, waiting)
    return item
  }

  /** Whether it was still waiting. */
  remove(caller: string, item: T): boolean {
    const waiting = this.#callers.get(caller) ?? []
    const at = waiting.indexOf(item)
    if (at < 0) return false
    waiting.splice(at, 1)
    if (waiting.length === 0) this.#callers.delete(caller)
    return true
  }

  takeAll(): T[] {
    const all = [...this.#callers.values()].flat()
    this.#callers.clear()
    return all
  }
}
