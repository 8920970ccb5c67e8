/** The rules for an order that takes what is available. They are pure, like those of placing.ts. */

import type { Inventory, StockItem } from './inventory.ts'
import { isRejected, type LineAnswer, type LineStatus } from './line-answers.ts'
import { isExpectedPrice, type Line } from './line-faults.ts'
import { add, compare, type Decimal, minorUnit, multipleBelow, plain, round, subtract, zero } from './money.ts'
import { detailsOf, type Order, type OrderItem, type PurchaseOrder } from './order.ts'
import { type Decision, decide, evaluate, mostOnHand } from './placing.ts'
import { isOrAre, leastQuantity, type QuantityRule, quantityRule } from './quantities.ts'
import { refuse } from './refusing.ts'

/** A line, and what the order takes of it. */
interface Settled {
  readonly line: Line
  readonly quantity: Decimal
  readonly answer: LineAnswer
}

/**
 * Decides a new order line by line. A line that is short gets what is left of its product, in multiples of the product's step.
 * When all lines of a product together come to less than its minimum, they get nothing. Lines of one product share its stock
 * in their order. A line that expects another price gets today's.
 * @throws DomainError `invalid-order` as `decide` does, `order-refused` when nothing at all can be had
 */
export function decideLeniently(order: PurchaseOrder, inventory: Inventory, shopCurrency: string): Decision {
  const { lines, invalid, refused, ...whole } = evaluate(order, inventory, shopCurrency)
  refuse({ invalid, refused: [] }, order.objections)
  const settled = settle(lines, whole.currency)
  const obtained = settled.filter(({ answer }) => !isRejected(answer))
  if (obtained.length === 0) refuse({ invalid, refused })
  const decision = refused.length === 0 ? whole : decide({ ...order, items: obtained.map(reducedItem) }, inventory, shopCurrency)
  const taken = decision.items.values()
  const items = settled.map(({ line, answer }, i): OrderItem => {
    const item = isRejected(answer) ? rejectedItem(line, whole.currency) : taken.next().value
    if (!item) throw new Error('every line of a new order is one item')
    return { ...item, line: i + 1, ...answer }
  })
  return { ...decision, items }
}

function reducedItem({ line, quantity }: Settled): PurchaseOrder['items'][number] {
  const { unitPrice: _, ...item } = line.item
  return { ...item, quantity }
}

function rejectedItem({ item, productId, stockItem: { name, unit, price } }: Line, currency: string): OrderItem {
  const ordered = 'gtin' in item.product ? { gtin: item.product.gtin } : {}
  const nothing = { quantity: zero, unit, unitPrice: price, lineTotal: round(zero, minorUnit(currency)) }
  return { line: 0, productId, ...ordered, name, ...nothing, ...detailsOf(item) }
}

/** The stock that is left of a product for its next line. */
class RemainingStock {
  readonly #stockItem: StockItem
  readonly rule: QuantityRule
  /** The quantity that is on hand and given to no line yet. */
  onHand: Decimal
  /** The most that a line can get, which is more where the product can be ordered without stock. */
  left: Decimal

  constructor(stockItem: StockItem) {
    this.#stockItem = stockItem
    this.rule = quantityRule(stockItem)
    this.onHand = atLeastZero(stockItem.onHand)
    this.left = stockItem.backorder ? atLeastZero(add(stockItem.onHand, mostOnHand)) : this.onHand
  }

  get backorder(): boolean {
    return this.#stockItem.backorder
  }

  give(quantity: Decimal): Decimal {
    const most = multipleBelow(this.left, this.rule.step)
    const given = compare(quantity, most) <= 0 ? quantity : most
    this.left = subtract(this.left, given)
    this.onHand = atLeastZero(subtract(this.onHand, given))
    return given
  }
}

/** The products whose lines get nothing, because together they could only get less than the product's minimum. */
function belowMinimum(lines: readonly Line[]): ReadonlySet<string> {
  const remaining = new Map<string, { readonly remainingStock: RemainingStock; sum: Decimal }>()
  for (const { item, productId, stockItem } of lines) {
    const entry = remaining.get(productId) ?? { remainingStock: new RemainingStock(stockItem), sum: zero }
    remaining.set(productId, entry)
    entry.sum = add(entry.sum, entry.remainingStock.give(item.quantity))
  }
  return new Set([...remaining].flatMap(([id, { remainingStock, sum }]) => (compare(sum, remainingStock.rule.minimum) < 0 ? [id] : [])))
}

function settle(lines: readonly Line[], currency: string): readonly Settled[] {
  const refused = belowMinimum(lines)
  const remaining = new Map<string, RemainingStock>()
  return lines.map((line): Settled => {
    const remainingStock = remaining.get(line.productId) ?? new RemainingStock(line.stockItem)
    remaining.set(line.productId, remainingStock)
    const { onHand, left } = remainingStock
    if (refused.has(line.productId)) return rejected(line, tooLittleReason(onHand, remainingStock))
    const quantity = remainingStock.give(line.item.quantity)
    if (compare(quantity, zero) === 0) return rejected(line, noneReason(left, remainingStock))
    const isCut = compare(quantity, line.item.quantity) < 0
    const expected = otherPrice(line)
    const isBackordered = compare(onHand, quantity) < 0
    const reasons = [
      isCut ? cutReason(quantity, line.item.quantity, left, remainingStock) : undefined,
      expected === undefined ? undefined : `It costs ${line.stockItem.price} ${currency}, not the expected ${expected}.`,
      isBackordered ? backorderReason(onHand, quantity) : undefined
    ].filter((reason) => reason !== undefined)
    const lineStatus = isCut || expected !== undefined ? 'changed' : isBackordered ? 'backordered' : 'accepted'
    return { line, quantity, answer: answerTo(line, lineStatus, isCut, reasons.join(' ')) }
  })
}

function rejected(line: Line, reason: string): Settled {
  return { line, quantity: zero, answer: answerTo(line, 'rejected', true, reason) }
}

function answerTo(line: Line, lineStatus: LineStatus, isOtherQuantity: boolean, reason: string): LineAnswer {
  const expectedPrice = otherPrice(line)
  return {
    lineStatus,
    ...(isOtherQuantity ? { orderedQuantity: line.item.quantity } : {}),
    ...(expectedPrice === undefined ? {} : { expectedPrice }),
    ...(reason === '' ? {} : { reason })
  }
}

/** The price that a line expects, if the product has another. */
function otherPrice({ item, stockItem }: Line): Decimal | undefined {
  return isExpectedPrice(stockItem.price, item) ? undefined : item.unitPrice
}

function cutReason(quantity: Decimal, ordered: Decimal, left: Decimal, { backorder, rule }: RemainingStock): string {
  const isInSteps = !backorder && compare(quantity, left) < 0
  return `Only ${plain(quantity)} of the ${plain(ordered)} ordered ${isOrAre(quantity)} available${isInSteps ? `: ${plain(left)} on hand, sold in multiples of ${plain(rule.step)}` : ''}.`
}

const noMore = 'No more can be ordered now.'

/** The reason of a line that gets nothing where other lines of its product get something. */
function noneReason(left: Decimal, { backorder, rule }: RemainingStock): string {
  if (backorder) return noMore
  if (compare(left, zero) > 0)
    return `Only ${plain(left)} ${isOrAre(left)} left, and the product is sold in multiples of ${plain(rule.step)}.`
  return 'Other lines of this order take all that is left.'
}

function tooLittleReason(onHand: Decimal, { backorder, rule }: RemainingStock): string {
  if (backorder) return noMore
  if (compare(onHand, zero) === 0) return 'None is on hand.'
  return `Only ${plain(onHand)} ${isOrAre(onHand)} on hand, and the least that can be ordered is ${plain(leastQuantity(rule))}.`
}

function backorderReason(onHand: Decimal, quantity: Decimal): string {
  if (compare(onHand, zero) === 0) return 'None is on hand; it is on backorder.'
  return `${plain(onHand)} of the ${plain(quantity)} ${isOrAre(onHand)} on hand; the rest is on backorder.`
}

function atLeastZero(quantity: Decimal): Decimal {
  return compare(quantity, zero) > 0 ? quantity : zero
}

/** The order with the quantities and expected prices of its document. Undefined when its lines have no answers. */
export function asOrdered(order: Order): Order | undefined {
  return order.items.some(({ lineStatus }) => lineStatus) ? { ...order, items: order.items.map(itemAsOrdered) } : undefined
}

function itemAsOrdered({ lineStatus: _, reason: _r, orderedQuantity, expectedPrice, ...item }: OrderItem): OrderItem {
  return { ...item, quantity: orderedQuantity ?? item.quantity, unitPrice: expectedPrice ?? item.unitPrice }
}
