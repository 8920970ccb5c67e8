import { Amounts } from './amounts.ts'

/** Limits how much all callers together may keep waiting. Above the limit, only callers with a large part of it are crowded out. */
export class CrowdLimit {
  readonly #limit: number
  readonly #perCaller: number
  readonly #callers = new Amounts()

  /** @param perCaller a caller with less than this is never crowded out */
  constructor(limit: number, perCaller: number) {
    this.#limit = limit
    this.#perCaller = perCaller
  }

  change(caller: string, difference: number): void {
    this.#callers.add(caller, difference)
  }

  isCrowdedOut(caller: string): boolean {
    return this.#callers.total >= this.#limit && this.#callers.of(caller) >= this.#perCaller
  }
}
