import { FairQueue } from './fair-queue.ts'
import { TimeShares } from './time-shares.ts'

/** Milliseconds. While clients connect, phases alternate: one accepts connections, the next does work. */
const phases = { accepting: 10, working: 4 } as const

/** Milliseconds after the start of a turn of the event loop in which work may start. Other work waits for a later turn. */
const slice = 4

/** Milliseconds of a turn after `slice`. In them short work may still start, even while other work waits. */
const timeForShortWork = 4

/** Connections that are read in one turn of the event loop. Each read may bring 64 KiB. */
const maxReadsPerTurn = 2

/**
 * Decides whose work the thread does next. Work starts at once while the current turn of the event loop has time left.
 * After that it waits, and callers share the time. So a newcomer does not wait for all that another caller has sent, and its short
 * pieces of work do not each wait for a long piece of another's.
 *
 * Node accepts one client per turn of the event loop (libuv's `uv__server_io`), so a newcomer also waits one turn for each
 * client that connected before it. While clients connect, work waits most of the time, so that turns are short.
 */
export class FairScheduler {
  readonly #shares = new TimeShares()
  readonly #waiting = new FairQueue<{ readonly caller: string; readonly start: () => void }>((caller) => this.#shares.used(caller))
  /**
   * The caller whose turn it is, until more of its work starts. So a request that was parsed in a turn is also handled in it.
   * Otherwise it would wait, with its body in memory, behind all requests that are not parsed yet.
   */
  #current: string | undefined
  #isTurnScheduled = false
  #turnStartedAt = 0
  #reads = 0
  #hasAccepted = false
  #acceptsUntil = 0
  #worksUntil = 0

  /**
   * Lets work wait if it may not start now.
   * @param isShort whether waiting would cost more than the work itself
   * @returns whether it may start; else `later` is called when it is the caller's turn
   */
  takeTurn(caller: string, isShort: boolean, later: () => void): boolean {
    this.#beginTurn()
    if (isShort ? this.#hasTime(slice + timeForShortWork) : this.#waiting.isEmpty && this.#mayStart()) return true
    this.#beginToWait(caller)
    this.#waiting.add(caller, { caller, start: later })
    return false
  }

  /** Calls `start` now, or when it is the caller's turn. */
  schedule(caller: string, start: () => void): void {
    if (caller === this.#current) {
      this.#current = undefined
      start()
    } else if (this.takeTurn(caller, false, start)) start()
  }

  /**
   * Gives others their turn, and calls `start` when the caller's next turn comes. `start` goes before the caller's other waiting work, so
   * that little work is half done at any time.
   */
  goOn(caller: string, start: () => void): void {
    this.#beginTurn()
    if (this.#waiting.isEmpty && this.#mayStart()) start()
    else {
      this.#beginToWait(caller)
      this.#waiting.addFirst(caller, { caller, start })
    }
  }

  /**
   * Schedules a read from a connection or a request body. Its data arrives in the next turn of the event loop.
   * @param read starts the read. It returns false if the connection is gone; that does not count as a read
   */
  scheduleRead(caller: string, read: () => boolean): void {
    this.schedule(caller, () => {
      if (read()) this.#reads++
    })
  }

  /** Call this for each connection that Node accepts, also one that is refused afterwards: more clients may be waiting behind it. */
  connectionAccepted(): void {
    this.#hasAccepted = true
    const now = performance.now()
    if (now >= this.#worksUntil) {
      this.#acceptsUntil = now + phases.accepting
      this.#worksUntil = this.#acceptsUntil + phases.working
    }
    if (!this.#isTurnScheduled) this.#scheduleTurn()
  }

  #beginTurn(): void {
    if (this.#isTurnScheduled) return
    this.#turnStartedAt = performance.now()
    this.#reads = 0
    this.#scheduleTurn()
  }

  #beginToWait(caller: string): void {
    if (!this.#waiting.has(caller)) this.#shares.beginToWait(caller)
  }

  #mayStart(): boolean {
    return this.#reads < maxReadsPerTurn && this.#hasTime(slice)
  }

  /** Whether the turn has lasted less than this, and no clients must be accepted first. */
  #hasTime(milliseconds: number): boolean {
    const now = performance.now()
    return now >= this.#acceptsUntil && now - this.#turnStartedAt < milliseconds
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
    const next = this.#waiting.take()
    if (!next) return
    const { caller } = next
    const begun = performance.now()
    this.#shares.begin(caller)
    this.#current = caller
    next.start()
    // The started work continues in microtasks. Its duration is known only after the last of them.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#current = undefined
        this.#shares.end(caller, performance.now() - begun, this.#waiting.callers)
        if (this.#mayStart()) this.#startNext()
      })
    )
  }
}
