import type { Bounds } from './quota.ts'

/** What one caller does and waits for. */
interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/** Whose bound leaves no room to wait. */
export class QuotaExceeded extends Error {
  override readonly name = 'QuotaExceeded'
  readonly of: keyof Bounds

  constructor(of: keyof Bounds) {
    super(`too much waits of ${of}`)
    this.of = of
  }
}

/**
 * Work of several callers, a bounded part of it at a time. Callers take turns, however much one of them has waiting; and
 * since no caller may do all that is done at a time, long work of one leaves room for the others.
 */
export class FairLimiter {
  readonly #running: Bounds
  readonly #waiting: Bounds
  /** In the order of their turns. */
  readonly #lines = new Map<string, Line>()
  #runningNow = 0
  #waitingNow = 0

  constructor({ running, waiting }: { readonly running: Bounds; readonly waiting: Bounds }) {
    this.#running = running
    this.#waiting = waiting
  }

  /** @throws QuotaExceeded */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(caller) ?? { running: 0, waiting: [] }
    if (!this.#hasRoom(line)) this.#checkRoomToWait(line)
    this.#lines.set(caller, line)
    if (this.#hasRoom(line)) this.#start(line)
    else await this.#wait(line)
    try {
      return await work()
    } finally {
      this.#end(caller, line)
    }
  }

  #hasRoom({ running }: Line): boolean {
    return this.#runningNow < this.#running.all && running < this.#running.caller
  }

  #start(line: Line): void {
    line.running++
    this.#runningNow++
  }

  #checkRoomToWait({ waiting }: Line): void {
    if (waiting.length >= this.#waiting.caller) throw new QuotaExceeded('caller')
    if (this.#waitingNow >= this.#waiting.all) throw new QuotaExceeded('all')
  }

  #wait({ waiting }: Line): Promise<void> {
    this.#waitingNow++
    return new Promise((resolve) => waiting.push(resolve))
  }

  #end(caller: string, line: Line): void {
    line.running--
    this.#runningNow--
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(caller)
    this.#next()
  }

  #next(): void {
    for (const [caller, line] of this.#lines) {
      if (line.waiting.length === 0 || !this.#hasRoom(line)) continue
      this.#waitingNow--
      this.#start(line)
      // Behind all others.
      this.#lines.delete(caller)
      this.#lines.set(caller, line)
      line.waiting.shift()?.()
      return
    }
  }
}
