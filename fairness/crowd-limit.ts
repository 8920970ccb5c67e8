/** Limits how much all callers together may keep waiting. Above the limit, only callers with a large part of it are crowded out. */
export class CrowdLimit {
  readonly #limit: number
  readonly #perCaller: number
  readonly #by = new Map<string, number>()
  #total = 0

  /** @param perCaller a caller with less than this is never crowded out */
  constructor(limit: number, perCaller: number) {
    this.#limit = limit
    this.#perCaller = perCaller
  }

  change(caller: string, difference: number): void {
    this.#total += difference
    const count = (this.#by.get(caller) ?? 0) + difference
    if (count > 0) this.#by.set(caller, count)
    else this.#by.delete(caller)
  }

  isCrowdedOut(caller: string): boolean {
    return this.#total >= this.#limit && (this.#by.get(caller) ?? 0) >= this.#perCaller
  }
}
