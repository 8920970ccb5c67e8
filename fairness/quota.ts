/** What all callers may have in use together, and one of them. */
export interface Bounds {
  readonly all: number
  readonly caller: number
}

/** What is in use, by caller. */
export class Quota {
  readonly #most: Bounds
  readonly #callers = new Map<string, number>()
  #all = 0

  constructor(most: Bounds) {
    this.#most = most
  }

  /** Takes so much into use, or says whose bound leaves no room for it. */
  take(caller: string, amount: number): keyof Bounds | undefined {
    const own = (this.#callers.get(caller) ?? 0) + amount
    if (own > this.#most.caller) return 'caller'
    if (this.#all + amount > this.#most.all) return 'all'
    this.#callers.set(caller, own)
    this.#all += amount
    return undefined
  }

  giveBack(caller: string, amount: number): void {
    const own = (this.#callers.get(caller) ?? 0) - amount
    if (own > 0) this.#callers.set(caller, own)
    else this.#callers.delete(caller)
    this.#all -= amount
  }
}
