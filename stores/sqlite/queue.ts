import { textOf } from '../../domain/deferred.ts'
import { DomainError } from '../../domain/errors.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { draftSize, orderSize } from '../sizes.ts'
import type { WriteCommand } from './writes.ts'

export interface Pending {
  readonly command: WriteCommand
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** What may wait, in commands and in their size; and the size of a batch, which bounds how long one commit keeps the rest waiting. */
const most = { commands: 10_000, size: 250_000, batch: 2_000 } as const

/** Commands on their way to the writer, in the order in which they came. */
export class Queue {
  #pending: Pending[] = []
  #size = 0

  get length(): number {
    return this.#pending.length
  }

  /** A command larger than all that may wait is taken when nothing else waits. @throws DomainError `store-overloaded` */
  checkRoom(command: WriteCommand): void {
    if (this.#pending.length === 0) return
    if (this.#pending.length < most.commands && this.#size + sizeOf(command) <= most.size) return
    throw new DomainError('store-overloaded', 'More is being written than the shop can take now. Nothing was stored; try again soon.')
  }

  add(pending: Pending): void {
    this.#pending.push(pending)
    this.#size += sizeOf(pending.command)
  }

  /** The next batch: at least one command, when there is one. */
  takeBatch(): Pending[] {
    let size = 0
    let count = 0
    for (const { command } of this.#pending) {
      if (size >= most.batch) break
      size += sizeOf(command)
      count++
    }
    this.#size -= size
    return this.#pending.splice(0, count)
  }

  takeAll(): Pending[] {
    this.#size = 0
    return this.#pending.splice(0)
  }
}

/** One, and more for every line of an order or item of a list, and for long texts. */
function sizeOf({ args: [first, second] }: WriteCommand): number {
  if (Array.isArray(first)) return first.reduce((size: number, item) => size + ('draft' in item ? draftSize(item.draft) : 1), 1)
  const content = typeof first === 'object' && 'order' in first ? first.order : second
  if (typeof content !== 'object') return 1
  // Only orders are deferred, and to look for a property of one would parse it.
  if (textOf(content) !== undefined) return orderSize(content as PurchaseOrder)
  return 'items' in content ? orderSize(content) : 'images' in content ? draftSize(content) : 1
}
