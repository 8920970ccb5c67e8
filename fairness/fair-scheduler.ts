import { FairQueue } from './fair-queue.ts'

/** In milliseconds. */
const lengths = {
  /** Of the work that is begun before the event loop turns. */
  slice: 4,
  /** While clients connect: of the time for accepting them, and of the time for work that follows, in turn. */
  phase: 20
} as const

/** Connections that are read before the event loop turns: each may bring 64 KiB, which are parsed at once. */
const mostReads = 2

/**
 * Decides whose work the thread does next. Work begins at once as long as little was done since the event loop turned;
 * after that it waits, and callers take turns. So what a newcomer waits for does not grow with what another caller sent.
 *
 * Node accepts one client a turn of the event loop (libuv's `uv__server_io`), so a newcomer also waits as many turns as
 * clients connected before him. While clients connect, turns are kept short: work waits for half of the time.
 */
export class FairScheduler {
  readonly #waiting = new FairQueue<() => void>()
  #isTurning = false
  /** When the work of this turn began. */
  #turnedAt = 0
  #reads = 0
  #hasAccepted = false
  #acceptsUntil = 0
  #worksUntil = 0

  /** Calls `start` now, or when it is the caller's turn. */
  schedule(caller: string, start: () => void): void {
    if (!this.#isTurning) {
      this.#turnedAt = performance.now()
      this.#reads = 0
      this.#turn()
    }
    if (this.#waiting.isEmpty && this.#hasTime()) start()
    else this.#waiting.add(caller, start)
  }

  /** Schedules that a connection, or what arrives of a body, is read in the next turn of the event loop. */
  scheduleRead(caller: string, read: () => void): void {
    this.schedule(caller, () => {
      this.#reads++
      read()
    })
  }

  /** Tells that a client was accepted: others may wait behind it. */
  accepted(): void {
    this.#hasAccepted = true
    const now = performance.now()
    if (now >= this.#worksUntil) {
      this.#acceptsUntil = now + lengths.phase
      this.#worksUntil = this.#acceptsUntil + lengths.phase
    }
    if (!this.#isTurning) this.#turn()
  }

  #hasTime(): boolean {
    if (this.#reads >= mostReads) return false
    const now = performance.now()
    return now >= this.#acceptsUntil && now - this.#turnedAt < lengths.slice
  }

  #turn(): void {
    this.#isTurning = true
    setImmediate(() => {
      this.#turnedAt = performance.now()
      this.#reads = 0
      // In this turn nobody connected.
      if (!this.#hasAccepted) this.#acceptsUntil = 0
      this.#isTurning = this.#hasAccepted || !this.#waiting.isEmpty
      this.#hasAccepted = false
      if (!this.#isTurning) return
      this.#turn()
      if (this.#hasTime()) this.#next()
    })
  }

  #next(): void {
    const start = this.#waiting.take()
    if (!start) return
    start()
    // What was started goes on in microtasks: only after the last of them is it known what it took.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#hasTime()) this.#next()
      })
    )
  }
}
