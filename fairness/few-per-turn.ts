import { FairQueue } from './fair-queue.ts'

/**
 * Calls that are made in one turn of the event loop. Each lets a request go on, which costs the serving thread about as much as a
 * small read.
 */
const callsPerTurn = 8

/** Makes a few calls in each turn of the event loop. If there are more, they wait, and callers take turns. */
export class FewPerTurn {
  readonly #waiting = new FairQueue<() => void>()
  #left = callsPerTurn
  #isTurnScheduled = false

  /** Makes the call now, or in a later turn. */
  add(caller: string, call: () => void): void {
    this.#scheduleTurn()
    if (this.#left === 0) {
      this.#waiting.add(caller, call)
      return
    }
    this.#left--
    call()
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return
    this.#isTurnScheduled = true
    setImmediate(() => {
      this.#isTurnScheduled = false
      this.#left = callsPerTurn
      if (!this.#waiting.isEmpty) this.#scheduleTurn()
      while (this.#left > 0 && !this.#waiting.isEmpty) {
        this.#left--
        this.#waiting.take()?.()
      }
    })
  }
}
