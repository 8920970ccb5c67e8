import { FairQueue } from './fair-queue.ts'

/** Milliseconds. While clients connect, phases of this length alternate: one accepts connections, the next does work. */
const phase = 20

/** Connections that are read in one turn of the event loop. Each read may bring 64 KiB, which Node parses at once. */
const maxReadsPerTurn = 2

/**
 * Decides whose work the thread does next. Work starts at once while the current turn of the event loop has time left.
 * After that it waits, and callers take turns. So a newcomer's wait does not grow with what another caller has sent.
 *
 * Node accepts one client per turn of the event loop (libuv's `uv__server_io`), so a newcomer also waits one turn for each
 * client that connected before it. While clients connect, turns are kept short: half of the time, work waits.
 */
export class FairScheduler {
  readonly #waiting = new FairQueue<() => void>()
  #isTurnScheduled = false
  #turnStartedAt = 0
  #reads = 0
  #hasAccepted = false
  #acceptsUntil = 0
  #worksUntil = 0
  readonly #slice: number

  /** @param slice milliseconds after the start of a turn in which new work may start. Other work waits for a later turn */
  constructor(slice = 4) {
    this.#slice = slice
  }

  /** Calls `start` now, or when it is the caller's turn. */
  schedule(caller: string, start: () => void): void {
    if (!this.#isTurnScheduled) {
      this.#turnStartedAt = performance.now()
      this.#reads = 0
      this.#scheduleTurn()
    }
    if (this.#waiting.isEmpty && this.#mayStart()) start()
    else this.#waiting.add(caller, start)
  }

  /** Schedules a read from a connection or a request body. Its data arrives in the next turn of the event loop. */
  scheduleRead(caller: string, read: () => void): void {
    this.schedule(caller, () => {
      this.#reads++
      read()
    })
  }

  /** Call this for each accepted connection: more clients may be waiting behind it. */
  connectionAccepted(): void {
    this.#hasAccepted = true
    const now = performance.now()
    if (now >= this.#worksUntil) {
      this.#acceptsUntil = now + phase
      this.#worksUntil = this.#acceptsUntil + phase
    }
    if (!this.#isTurnScheduled) this.#scheduleTurn()
  }

  #mayStart(): boolean {
    if (this.#reads >= maxReadsPerTurn) return false
    const now = performance.now()
    return now >= this.#acceptsUntil && now - this.#turnStartedAt < this.#slice
  }

  #scheduleTurn(): void {
    this.#isTurnScheduled = true
    setImmediate(() => {
      this.#turnStartedAt = performance.now()
      this.#reads = 0
      // Nobody connected in this turn, so work need not wait for the phase to end.
      if (!this.#hasAccepted) this.#acceptsUntil = 0
      this.#isTurnScheduled = this.#hasAccepted || !this.#waiting.isEmpty
      this.#hasAccepted = false
      if (!this.#isTurnScheduled) return
      this.#scheduleTurn()
      if (this.#mayStart()) this.#startNext()
    })
  }

  #startNext(): void {
    const start = this.#waiting.take()
    if (!start) return
    start()
    // The started work continues in microtasks. Its duration is known only after the last of them.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#mayStart()) this.#startNext()
      })
    )
  }
}
