interface Waiting {
  /** By performance.now(). */
  readonly due: number
  readonly start: () => void
}

/** Starts the queued work of each caller one item at a time: each after a delay, and with a pause between two items. */
export class PacedQueue {
  readonly #pause: { readonly before: number; readonly between: number }
  readonly #isHurried: () => boolean
  readonly #callers = new Map<string, Set<Waiting>>()

  /**
   * @param pause milliseconds
   * @param isHurried whether everything that waits starts at its next turn, without pauses
   */
  constructor(pause: { readonly before: number; readonly between: number }, isHurried: () => boolean) {
    this.#pause = pause
    this.#isHurried = isHurried
  }

  /** @returns a function that removes the item from the queue */
  add(caller: string, start: () => void): () => void {
    const one = { due: performance.now() + this.#pause.before, start }
    const known = this.#callers.get(caller)
    const waiting = known ?? new Set<Waiting>()
    waiting.add(one)
    if (!known) {
      this.#callers.set(caller, waiting)
      this.#startLater(caller, waiting, this.#pause.before)
    }
    return () => waiting.delete(one)
  }

  #startLater(caller: string, waiting: Set<Waiting>, delay: number): void {
    setTimeout(() => {
      for (const one of waiting) {
        if (one.due > performance.now() && !this.#isHurried()) break
        waiting.delete(one)
        one.start()
        if (!this.#isHurried()) break
      }
      const [next] = waiting
      if (next) this.#startLater(caller, waiting, Math.max(this.#pause.between, next.due - performance.now()))
      else this.#callers.delete(caller)
    }, delay)
  }
}
