/** Limits how much all callers together may keep waiting. Above the limit, only callers who have much of it are crowded out. */
export class CrowdLimit {
  readonly #limit: number
  readonly #much: number
  readonly #by = new Map<string, number>()
  #total = 0

  /** @param much of one caller, from which on it may be crowded out */
  constructor(limit: number, much: number) {
    this.#limit = limit
    this.#much = much
  }

  change(caller: string, difference: number): void {
    this.#total += difference
    const count = (this.#by.get(caller) ?? 0) + difference
    if (count > 0) this.#by.set(caller, count)
    else this.#by.delete(caller)
  }

  isCrowdedOut(caller: string): boolean {
    return this.#total >= this.#limit && (this.#by.get(caller) ?? 0) >= this.#much
  }
}
