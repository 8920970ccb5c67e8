import type { Limits } from './quota.ts'

export interface FairLimits {
  readonly running: Limits
  readonly waiting: Limits
}

/** Milliseconds after which work that waited for its turn is refused: a proxy gives up on a request after 60 s. */
const longestWait = 30_000

/** Call this when work begins to wait for its turn. @returns a function that says whether the turn comes too late */
export function startWaiting(): () => boolean {
  const askedAt = performance.now()
  return () => performance.now() - askedAt > longestWait
}

/** The running and the waiting work of one caller. */
interface CallerState {
  running: number
  /** Starts work that waits to go on. */
  readonly continuing: (() => void)[]
  /** Starts work that waits to begin. */
  readonly waiting: (() => void)[]
}

/** The queue is full, for this caller or for all of them. */
export class QuotaExceeded extends Error {
  override readonly name = 'QuotaExceeded'
  readonly limit: keyof Limits

  constructor(limit: keyof Limits) {
    super(`the queue has reached its ${limit} limit`)
    this.limit = limit
  }
}

/**
 * Limits how much work runs and waits at once, in total and per caller. Callers take turns, however much work each of them
 * has queued. No single caller can occupy every running slot, so slow work of one caller leaves room for the others.
 */
export class FairLimiter {
  readonly #runningLimits: Limits
  readonly #waitingLimits: Limits
  /** In turn order: the first caller is next. */
  readonly #callers = new Map<string, CallerState>()
  #runningTotal = 0
  #waitingTotal = 0

  constructor({ running, waiting }: FairLimits) {
    this.#runningLimits = running
    this.#waitingLimits = waiting
  }

  /**
   * Runs the work when it is the caller's turn.
   * @throws QuotaExceeded when no more work may wait
   */
  run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    return this.#run(caller, work, (state) => this.#wait(state))
  }

  /**
   * Runs work that continues what the caller has begun. It goes before all work that waits to begin, so that few tasks are
   * half done at any time. Callers take turns here, too.
   */
  goOn<T>(caller: string, work: () => Promise<T>): Promise<T> {
    return this.#run(caller, work, ({ continuing }) => new Promise((resolve) => continuing.push(resolve)))
  }

  async #run<T>(caller: string, work: () => Promise<T>, wait: (state: CallerState) => Promise<void>): Promise<T> {
    const state = this.#callers.get(caller) ?? { running: 0, continuing: [], waiting: [] }
    const turn = this.#mayStart(state) ? this.#start(state) : wait(state)
    this.#callers.set(caller, state)
    if (turn) await turn
    try {
      return await work()
    } finally {
      this.#finish(caller, state)
    }
  }

  #mayStart({ running }: CallerState): boolean {
    return this.#runningTotal < this.#runningLimits.total && running < this.#runningLimits.perCaller
  }

  #start(state: CallerState): void {
    state.running++
    this.#runningTotal++
  }

  #wait({ waiting }: CallerState): Promise<void> {
    if (waiting.length >= this.#waitingLimits.perCaller) throw new QuotaExceeded('perCaller')
    if (this.#waitingTotal >= this.#waitingLimits.total) throw new QuotaExceeded('total')
    this.#waitingTotal++
    return new Promise((resolve) => {
      waiting.push(() => {
        this.#waitingTotal--
        resolve()
      })
    })
  }

  #finish(caller: string, state: CallerState): void {
    state.running--
    this.#runningTotal--
    if (state.running + state.continuing.length + state.waiting.length === 0) this.#callers.delete(caller)
    if (!this.#startNext('continuing')) this.#startNext('waiting')
  }

  /** @returns whether the next caller's work was started */
  #startNext(queue: 'continuing' | 'waiting'): boolean {
    for (const [caller, state] of this.#callers) {
      if (state[queue].length === 0 || !this.#mayStart(state)) continue
      this.#start(state)
      // The caller goes to the end of the turn order.
      this.#callers.delete(caller)
      this.#callers.set(caller, state)
      state[queue].shift()?.()
      return true
    }
    return false
  }
}
