import { FairQueue } from './fair-queue.ts'

interface Caller {
  readonly name: string
  readonly group: string
}

/**
 * A queue of groups of callers. Groups take turns, however many callers each of them has: none gets two turns in a row while another
 * one waits. In each group its callers take turns.
 */
export class GroupedQueue<T> {
  /** Those with items that wait. */
  readonly #groups = new Map<string, FairQueue<T>>()
  readonly #served: ((caller: string) => number) | undefined
  #last: string | undefined

  /** @param served orders the callers of each group, as in FairQueue */
  constructor(served?: (caller: string) => number) {
    this.#served = served
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  add({ name, group }: Caller, item: T): void {
    const known = this.#groups.get(group)
    const queue = known ?? new FairQueue<T>(this.#served)
    queue.add(name, item)
    if (!known) this.#groups.set(group, queue)
  }

  take(): T | undefined {
    const groups = [...this.#groups.keys()]
    const group = groups.find((one) => one !== this.#last) ?? groups[0]
    const queue = group === undefined ? undefined : this.#groups.get(group)
    if (group === undefined || !queue) return undefined
    this.#last = group
    const item = queue.take()
    this.#groups.delete(group)
    if (!queue.isEmpty) this.#groups.set(group, queue)
    return item
  }

  /** @returns whether the item was still waiting */
  remove({ name, group }: Caller, item: T): boolean {
    const queue = this.#groups.get(group)
    if (!queue?.remove(name, item)) return false
    if (queue.isEmpty) this.#groups.delete(group)
    return true
  }

  takeAll(): T[] {
    const all = [...this.#groups.values()].flatMap((queue) => queue.takeAll())
    this.#groups.clear()
    return all
  }
}
