/** The faults of an order's lines. */

import type { Fault } from './errors.ts'
import type { StockItem } from './inventory.ts'
import { add, compare, type Decimal, isMultiple, multiply, plain, round, zero } from './money.ts'
import type { OrderItem, PurchaseOrderItem, QuotedPrice } from './order.ts'
import type { Piece, PricedLine } from './pricing.ts'
import { nearestQuantities, type QuantityRule, quantityRule } from './quantities.ts'
import { unitsNamed, withUnit } from './unit-names.ts'

/** An item of a document with the product that it names. */
export interface Line {
  readonly item: PurchaseOrderItem
  /** The item's position in the document, from 1. */
  readonly position: number
  readonly productId: string
  readonly stockItem: StockItem
}

export function unknownProduct({ product }: PurchaseOrderItem, position: number): Fault {
  const [element, value, kind] = 'gtin' in product ? ['gtin', product.gtin, ' with the GTIN'] : ['product-id', product.productId, '']
  const detail = `There is no product${kind} ${JSON.stringify(value)}.`
  return { code: 'unknown-product', at: ['item', position, element], detail }
}

export function twoProducts(id: string, other: string, position: number): Fault {
  const detail = `The line names two products: its id belongs to ${id}, its GTIN to ${other}. Name one.`
  return { code: 'two-products', at: ['item', position], detail }
}

/** Whether an item accepts a price: it expects the same one, or none. */
export function isExpectedPrice(price: Decimal, { unitPrice, quoted }: Pick<PurchaseOrderItem, 'unitPrice' | 'quoted'>): boolean {
  if (quoted?.price) return isQuotedPrice(price, quoted.price)
  return unitPrice === undefined || compare(price, unitPrice) === 0
}

/** Whether a price is the one that a buyer's document expects: its amount is rounded (half up) to the digits that it is given with. */
function isQuotedPrice(price: Decimal, quoted: QuotedPrice): boolean {
  const amount = multiply(quoted.amount, quoted.factor ?? ('1' as Decimal))
  const digits = amount.split('.')[1]?.length ?? 0
  return compare(round(multiply(price, quoted.base), digits), amount) === 0
}

export function unitFaults({ item, position, productId, stockItem }: Line, pieces: readonly Piece[]): readonly Fault[] {
  const at = ['item', position, 'quantity', 'unit']
  const other = pieces.find(({ unit }) => item.unit !== undefined && unit !== item.unit)
  if (other) return [{ code: 'wrong-unit', at, detail: `${productId} is sold by the unit ${other.unit}, not ${item.unit}.` }]
  const [first, second] = [pieces[0], pieces.find(({ unit }) => unit !== pieces[0]?.unit)]
  if (!first || !second) return []
  const detail = `${productId} is sold by the unit ${stockItem.unit} now: the order keeps its ${plain(first.quantity)} ${first.unit}. Put the additional quantity in a line of its own.`
  return [{ code: 'wrong-unit', at, detail }]
}

export function priceFaults({ item, position, productId }: Line, pieces: readonly Piece[], currency: string): readonly Fault[] {
  const others = pieces.filter(({ unitPrice }) => !isExpectedPrice(unitPrice, item))
  if (others.length === 0) return []
  const expected = item.quoted?.price ? quotedText(item.quoted.price) : item.unitPrice
  const costs = pieces.map(({ quantity, unitPrice }) => `${quantity} at ${unitPrice} ${currency}`).join(' and ')
  const detail =
    pieces.length === 1
      ? `${productId} costs ${others[0]?.unitPrice} ${currency}, not the expected ${expected}.`
      : `${productId} costs ${costs}, not the expected ${expected} for all of this line: the quantity ordered before keeps its price, and the rest has today's price. Leave unit-price out, or put the additional quantity in a line of its own.`
  return [{ code: 'price-changed', at: ['item', position, 'unit-price'], detail }]
}

function quotedText({ amount, base }: QuotedPrice): string {
  return compare(base, '1' as Decimal) === 0 ? amount : `${amount} for ${plain(base)}`
}

/** The quantity of a product in one unit, and its prices. */
interface Sum {
  quantity: Decimal
  readonly prices: Set<string>
}

function sumUp(all: readonly { productId: string; unit: string; quantity: Decimal; unitPrice: Decimal }[]): ReadonlyMap<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const { productId, unit, quantity, unitPrice } of all) {
    const sum = sums.get(`${productId} ${unit}`) ?? { quantity: zero, prices: new Set() }
    sums.set(`${productId} ${unit}`, sum)
    sum.quantity = add(sum.quantity, quantity)
    sum.prices.add(plain(unitPrice))
  }
  return sums
}

/**
 * The faults of quantities in which a product is not sold. The sum of a product's lines must reach its minimum, unless the previous
 * order had the same sum. Each line must be a multiple of the step, unless it is unchanged. Where the previous order has a product
 * at two prices, its lines may be parts of one, so only their sum must be a multiple.
 * @param previous the lines of the order before the change
 */
export function quantityFaults(lines: readonly Line[], priced: readonly PricedLine[], previous: readonly OrderItem[]): readonly Fault[] {
  const wanted = lines.map(({ productId, stockItem, item }, i) => {
    const unit = priced[i]?.pieces[0]?.unit ?? stockItem.unit
    const hasUsableQuantity = (item.unit === undefined || item.unit === unit) && !item.quoted?.isUncounted
    return { productId, unit, hasUsableQuantity, quantity: item.quantity, unitPrice: stockItem.price }
  })
  const [now, before] = [sumUp(wanted), sumUp(previous)]
  return lines.flatMap(({ position, productId, stockItem }, i): readonly Fault[] => {
    const line = wanted[i]
    // A line with a wrong unit or without a quantity has another fault.
    if (!line?.hasUsableQuantity) return []
    // A product's own rule applies only in the unit by which it is sold now.
    const rule = quantityRule(line.unit === stockItem.unit ? stockItem : { unit: line.unit })
    const [sum, had] = [now.get(`${productId} ${line.unit}`)?.quantity ?? zero, before.get(`${productId} ${line.unit}`)]
    const isInSteps =
      priced[i]?.isUnchanged || isMultiple(line.quantity, rule.step) || ((had?.prices.size ?? 0) > 1 && isMultiple(sum, rule.step))
    const isEnough = compare(sum, rule.minimum) >= 0 || (had !== undefined && compare(sum, had.quantity) === 0)
    const at = ['item', position, 'quantity']
    if (!isInSteps) return [{ code: 'wrong-quantity-step', at, detail: outOfStep(productId, line.quantity, line.unit, rule) }]
    return isEnough ? [] : [{ code: 'below-minimum-quantity', at, detail: tooLittle(productId, sum, line.unit, rule) }]
  })
}

function outOfStep(productId: string, quantity: Decimal, unit: string, rule: QuantityRule): string {
  const nearest = nearestQuantities(quantity, rule).map(plain).join(' or ')
  const step = plain(rule.step)
  const allowed = step === '1' ? `whole ${unitsNamed(unit)}` : `multiples of ${withUnit(step, unit)}`
  return `${productId} is sold in ${allowed} only. Order ${nearest}, not ${plain(quantity)}.`
}

function tooLittle(productId: string, sum: Decimal, unit: string, { minimum }: QuantityRule): string {
  return `The minimum quantity of ${productId} is ${withUnit(plain(minimum), unit)}; this order has ${plain(sum)}.`
}

/** The fault of an order that has too many items because lines with two prices are split. */
export function tooManyItems(count: number, most: number): Fault {
  const detail = `The order would have ${count} items, because a line with several prices becomes one item for each price; at most ${most} are allowed. Put the rest in another order.`
  return { code: 'too-many-items', detail }
}
