/** Callers whose use is remembered. It limits the memory, however many addresses call. */
const maxCallers = 10_000

/**
 * How much time each caller has used, so that those who wait can share it: whoever has used least is next. This is start-time fair
 * queueing (Goyal, Vin and Cheng, SIGCOMM 1996): a caller that begins to wait counts as if it had used as much as those who are served
 * now. So nobody saves up time, and a caller whose work takes long does not make others wait for each piece of it.
 */
export class TimeShares {
  /** Milliseconds. What the callers who are served now have used. */
  #level = 0
  /** Milliseconds by caller. The caller that began to wait last is at the end. */
  readonly #used = new Map<string, number>()

  /** The time that counts as used by a caller, in milliseconds. */
  used(caller: string): number {
    return this.#used.get(caller) ?? this.#level
  }

  /** Call this when the caller begins to wait. */
  beginToWait(caller: string): void {
    const used = Math.max(this.#level, this.used(caller))
    this.#used.delete(caller)
    this.#used.set(caller, used)
    // A caller that was forgotten while it waited is remembered again by `end`, so there can be several too many.
    for (const oldest of this.#used.keys()) {
      if (this.#used.size <= maxCallers) break
      this.#used.delete(oldest)
    }
  }

  /** Call this when work of a caller begins. Of all who wait, that caller has used least. */
  begin(caller: string): void {
    this.#level = Math.max(this.#level, this.used(caller))
  }

  /**
   * Call this when the work ends.
   * @param waiting how many callers wait. The level rises by the part of each. Otherwise new callers that never stop coming would always
   *   be next
   */
  end(caller: string, milliseconds: number, waiting: number): void {
    this.#used.set(caller, this.used(caller) + milliseconds)
    this.#level += milliseconds / (waiting + 1)
  }
}
