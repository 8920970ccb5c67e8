import type { Store } from '../domain/store.ts'

/** The interval at which the last use of each key is recorded, in milliseconds. */
const interval = 5_000

interface Log {
  warn(details: object, message: string): void
}

/** Remembers when each key was used last, and has it recorded from time to time: a write for each request would cost too much. */
export class KeyUses {
  readonly #record: Store['touchKeys']
  readonly #log: Log
  readonly #uses = new Map<string, number>()
  /** Whether the last attempt has failed. */
  #hasWarned = false
  readonly #timer = setInterval(() => void this.#recordAll(), interval).unref()

  constructor(record: Store['touchKeys'], log: Log) {
    this.#record = record
    this.#log = log
  }

  note(keyId: string, at: number): void {
    this.#uses.set(keyId, at)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#recordAll()
  }

  async #recordAll(): Promise<void> {
    if (this.#uses.size === 0) return
    const recorded = [...this.#uses].map(([id, at]) => ({ id, at }))
    this.#uses.clear()
    try {
      await this.#record(recorded)
      this.#hasWarned = false
    } catch (error) {
      // They are recorded the next time, except where a later use was noted meanwhile.
      for (const { id, at } of recorded) if (!this.#uses.has(id)) this.#uses.set(id, at)
      if (!this.#hasWarned)
        this.#log.warn({ err: error }, 'the last use of keys could not be recorded: trying again, without another warning')
      this.#hasWarned = true
    }
  }
}
