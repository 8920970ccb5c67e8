/** Carries over to a changed order the shipped quantities and the seller's details. */

import { DomainError, type Fault, mostFaults } from './errors.ts'
import type { Line } from './line-faults.ts'
import { add, compare, type Decimal, plain, subtract, zero } from './money.ts'
import { type Order, type OrderItem, sellerDetailsOf } from './order.ts'
import { isAllShipped, leftOf } from './shipping.ts'

/** Identifies goods that were sold on the same terms, also if their line has moved in the document. */
const termsOf = ({ productId, unit, unitPrice }: OrderItem) => `${productId} ${unit} ${plain(unitPrice)}`

/**
 * The changed order with the shipped quantities and the seller's details. A new line continues the old line with the same number, if
 * both have the same product and terms. Otherwise it continues the first old line with that product and those terms that no other
 * line continues. It takes over the seller's details and the shipped quantity of the old line. If its quantity is less than what was
 * shipped, the remainder moves to the other lines of the same product and terms, in their order, because goods are alike. If nothing
 * is left to ship, the order is `shipped`.
 * @param lines the lines of the document, where faults are located
 * @throws DomainError `order-refused` when the new lines have less of a product than was shipped at its terms
 */
export function carryOver(before: Order, changed: Order, lines: readonly Pick<Line, 'position' | 'productId'>[]): Order {
  const previous = continued(before.items, changed.items)
  const unassigned = sumsByTerms(before.items, ({ shippedQuantity }) => shippedQuantity)
  const isPartlyShipped = unassigned.size > 0
  const items = changed.items.map((item, i) => {
    const old = previous[i]
    if (!old) return item
    const own = isPartlyShipped ? claim(unassigned, item, old.shippedQuantity ?? zero) : zero
    return withShipped({ ...item, ...sellerDetailsOf(old) }, own)
  })
  const filled = isPartlyShipped ? items.map((item) => withShipped(item, claim(unassigned, item, leftOf(item)))) : items
  const missing = [...unassigned].filter(([, quantity]) => compare(quantity, zero) > 0)
  if (missing.length > 0) {
    const detail = 'A part of the order was shipped, and can no longer be changed. Nothing was stored.'
    throw new DomainError('order-refused', detail, { faults: belowShipped(missing, before, changed, lines) })
  }
  const { shipmentCount } = before
  const kept = { ...changed, ...sellerDetailsOf(before), items: filled, ...(shipmentCount === undefined ? {} : { shipmentCount }) }
  return isPartlyShipped && isAllShipped(kept) ? { ...kept, status: 'shipped' } : kept
}

/** For each new line the old line that it continues. */
function continued(before: readonly OrderItem[], after: readonly OrderItem[]): readonly (OrderItem | undefined)[] {
  const unclaimed = new Set(before)
  const byLine = new Map(before.map((item) => [item.line, item]))
  const previous = after.map((item) => {
    const same = byLine.get(item.line)
    if (!same || termsOf(same) !== termsOf(item)) return undefined
    unclaimed.delete(same)
    return same
  })
  const queues = new Map<string, OrderItem[]>()
  for (const item of [...unclaimed].reverse()) {
    const queue = queues.get(termsOf(item))
    if (queue) queue.push(item)
    else queues.set(termsOf(item), [item])
  }
  return after.map((item, i) => previous[i] ?? queues.get(termsOf(item))?.pop())
}

/** @param quantityOf the quantity of a line; undefined leaves the line out */
function sumsByTerms(items: readonly OrderItem[], quantityOf: (item: OrderItem) => Decimal | undefined): Map<string, Decimal> {
  const sums = new Map<string, Decimal>()
  for (const item of items) {
    const quantity = quantityOf(item)
    if (quantity !== undefined) sums.set(termsOf(item), add(sums.get(termsOf(item)) ?? zero, quantity))
  }
  return sums
}

/** Takes a shipped quantity for a line: at most `most`, and no more than is left to ship of the line. */
function claim(unassigned: Map<string, Decimal>, item: OrderItem, most: Decimal): Decimal {
  const terms = termsOf(item)
  const there = unassigned.get(terms) ?? zero
  const claimed = [there, most, leftOf(item)].reduce((least, quantity) => (compare(quantity, least) < 0 ? quantity : least))
  if (compare(claimed, zero) > 0) unassigned.set(terms, subtract(there, claimed))
  return claimed
}

function withShipped(item: OrderItem, quantity: Decimal): OrderItem {
  if (compare(quantity, zero) <= 0) return item
  return { ...item, shippedQuantity: plain(add(item.shippedQuantity ?? zero, quantity)) }
}

/**
 * Each fault is at the first line of its product. A product whose lines were all removed has no place in the document.
 * @param missing the quantities that the changed order lacks, by their terms
 */
function belowShipped(
  missing: readonly (readonly [terms: string, quantity: Decimal])[],
  before: Order,
  changed: Order,
  lines: Parameters<typeof carryOver>[2]
): Fault[] {
  // An order can have thousands of products, so nothing is searched for each of them.
  const wanted = sumsByTerms(changed.items, ({ quantity }) => quantity)
  const goods = new Map(before.items.map((item) => [termsOf(item), item]))
  const positions = new Map(lines.map(({ productId, position }) => [productId, position] as const).reverse())
  return missing.slice(0, mostFaults).flatMap(([terms, quantity]) => {
    const item = goods.get(terms)
    if (!item) return []
    const ordered = wanted.get(terms) ?? zero
    const detail = `${plain(add(ordered, quantity))} of ${item.productId} at ${item.unitPrice} ${before.currency} was shipped, but the changed order has only ${plain(ordered)} of it. Order at least what was shipped, at the same price.`
    const position = positions.get(item.productId)
    return [{ code: 'already-shipped', detail, ...(position !== undefined && { at: ['item', position, 'quantity'] }) }]
  })
}
