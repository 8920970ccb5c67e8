import { textOf } from '../../domain/deferred.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { detailsSize, draftSize, orderSize } from '../sizes.ts'
import type { WriteCommand } from './write-verbs.ts'

/**
 * The weight of what a command sends: 1, plus 1 for each order line, imported product or KiB of text. The writer adds the stored orders
 * that the command needs: see existing-sizes.ts.
 */
export function commandSize({ verb, args }: WriteCommand): number {
  const [first, second] = args
  if (verb === 'shipOrder') return detailsSize(second as object)
  if (verb === 'setOrderStatus') {
    const details = (args as WriteCommand<'setOrderStatus'>['args'])[3]?.details
    return details ? detailsSize(details) : 1
  }
  if (Array.isArray(first)) return first.reduce((size: number, item) => size + ('draft' in item ? draftSize(item.draft) : 1), 1)
  const content = typeof first === 'object' && 'order' in first ? first.order : second
  if (typeof content !== 'object') return 1
  // Only orders are deferred. Reading a property of a deferred order would parse it.
  if (textOf(content) !== undefined) return orderSize(content as PurchaseOrder)
  return 'items' in content ? orderSize(content as PurchaseOrder) : 'images' in content ? draftSize(content) : 1
}
