import { textOf } from '../../domain/deferred.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { draftSize, orderSize } from '../sizes.ts'
import type { WriteCommand } from './writes.ts'

/** The weight of a command in a batch: one, plus one for every line of an order or item of a list, and more for long texts. */
export function commandSize({ args: [first, second] }: WriteCommand): number {
  if (Array.isArray(first)) return first.reduce((size: number, item) => size + ('draft' in item ? draftSize(item.draft) : 1), 1)
  const content = typeof first === 'object' && 'order' in first ? first.order : second
  if (typeof content !== 'object') return 1
  // Only orders are deferred, and to look for a property of one would parse it.
  if (textOf(content) !== undefined) return orderSize(content as PurchaseOrder)
  return 'items' in content ? orderSize(content) : 'images' in content ? draftSize(content) : 1
}
