import type { Limits } from './quota.ts'

/** The running and the waiting work of one caller. */
interface CallerState {
  running: number
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

  constructor({ running, waiting }: { readonly running: Limits; readonly waiting: Limits }) {
    this.#runningLimits = running
    this.#waitingLimits = waiting
  }

  /**
   * Runs the work when it is the caller's turn.
   * @throws QuotaExceeded when no more work may wait
   */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const state = this.#callers.get(caller) ?? { running: 0, waiting: [] }
    if (!this.#mayStart(state)) this.#checkQueue(state)
    this.#callers.set(caller, state)
    if (this.#mayStart(state)) this.#start(state)
    else await this.#enqueue(state)
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

  #checkQueue({ waiting }: CallerState): void {
    if (waiting.length >= this.#waitingLimits.perCaller) throw new QuotaExceeded('perCaller')
    if (this.#waitingTotal >= this.#waitingLimits.total) throw new QuotaExceeded('total')
  }

  #enqueue({ waiting }: CallerState): Promise<void> {
    this.#waitingTotal++
    return new Promise((resolve) => waiting.push(resolve))
  }

  #finish(caller: string, state: CallerState): void {
    state.running--
    this.#runningTotal--
    if (state.running === 0 && state.waiting.length === 0) this.#callers.delete(caller)
    this.#startNext()
  }

  #startNext(): void {
    for (const [caller, state] of this.#callers) {
      if (state.waiting.length === 0 || !this.#mayStart(state)) continue
      this.#waitingTotal--
      this.#start(state)
      // The caller goes to the end of the turn order.
      this.#callers.delete(caller)
      this.#callers.set(caller, state)
      state.waiting.shift()?.()
      return
    }
  }
}
