import { DomainError } from '../domain/errors.ts'

/**
 * A full lane still takes `part` of the limits from each sender, so that one sender never fills it for others. At `all` times the limits
 * it takes nothing more.
 */
const limits = { items: 10_000, weight: 250_000, part: 1 / 25, all: 2 } as const

interface Usage {
  items: number
  /** The weight of what was sent. Stored orders do not count, because they are not in memory while a write waits. */
  size: number
}

/** Counts the writes that wait in a lane, in total and by sender, and limits them. */
export class LaneRoom {
  readonly #senders = new Map<string, Usage>()
  readonly #all: Usage = { items: 0, size: 0 }

  get items(): number {
    return this.#all.items
  }

  /**
   * A sender that has nothing here may add a write of any size, unless all senders have filled the lane.
   * @throws DomainError `store-overloaded`
   */
  require(sender: string, size: number): void {
    const own = this.#senders.get(sender)
    const mayAdd = !own || hasRoom(this.#all, size, 1) || hasRoom(own, size, limits.part)
    if (mayAdd && hasRoom(this.#all, 0, limits.all)) return
    throw new DomainError('store-overloaded', 'Too many writes are waiting right now. Nothing was stored. Try again in a few seconds.')
  }

  add(sender: string, size: number): void {
    const own = this.#senders.get(sender) ?? { items: 0, size: 0 }
    this.#senders.set(sender, own)
    for (const usage of [own, this.#all]) {
      usage.items += 1
      usage.size += size
    }
  }

  remove(sender: string, size: number): void {
    const own = this.#senders.get(sender)
    if (!own) return
    for (const usage of [own, this.#all]) {
      usage.items -= 1
      usage.size -= size
    }
    if (own.items === 0) this.#senders.delete(sender)
  }
}

/** @param part the part of the limits that may be in use */
function hasRoom({ items, size }: Usage, more: number, part: number): boolean {
  return items < limits.items * part && size + more <= limits.weight * part
}
