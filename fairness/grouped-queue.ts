import { FairQueue } from './fair-queue.ts'

interface Caller {
  readonly name: string
  /** Groups are never removed, so there must be few. */
  readonly group: string
}

/**
 * A queue of groups of callers. Groups take turns, however many callers each of them has: none gets two turns in a row while another
 * one waits. In each group its callers take turns.
 */
export class GroupedQueue<T> {
  readonly #groups = new Map<string, FairQueue<T>>()
  /** Has an entry for each waiting item: the queue of its group. So each turn of a group takes one item. */
  readonly #turns = new FairQueue<FairQueue<T>>()
  readonly #served: ((caller: string) => number) | undefined

  /** @param served orders the callers of each group, as in FairQueue */
  constructor(served?: (caller: string) => number) {
    this.#served = served
  }

  get isEmpty(): boolean {
    return this.#turns.isEmpty
  }

  add({ name, group }: Caller, item: T): void {
    const queue = this.#groups.get(group) ?? new FairQueue<T>(this.#served)
    this.#groups.set(group, queue)
    queue.add(name, item)
    this.#turns.add(group, queue)
  }

  take(): T | undefined {
    return this.#turns.take()?.take()
  }

  /** @returns whether the item was still waiting */
  remove({ name, group }: Caller, item: T): boolean {
    const queue = this.#groups.get(group)
    return queue?.remove(name, item) === true && this.#turns.remove(group, queue)
  }

  takeAll(): T[] {
    this.#turns.takeAll()
    return [...this.#groups.values()].flatMap((queue) => queue.takeAll())
  }
}
