import { FairQueue } from './fair-queue.ts'

/** Makes a few calls in each turn of the event loop. If there are more, they wait, and callers take turns. */
export class FewPerTurn {
  readonly #waiting = new FairQueue<() => void>()
  readonly #most: number
  #left: number
  #isTurnScheduled = false

  /** @param most calls in one turn of the event loop */
  constructor(most: number) {
    this.#most = most
    this.#left = most
  }

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
      this.#left = this.#most
      if (!this.#waiting.isEmpty) this.#scheduleTurn()
      while (this.#left > 0 && !this.#waiting.isEmpty) {
        this.#left--
        this.#waiting.take()?.()
      }
    })
  }
}
