/** The rules for the content of an order, new or changed. They are pure: a store calls them on rows that it has locked. */

import { wrongCurrency } from './currency.ts'
import { DomainError, type Fault } from './errors.ts'
import type { Inventory, StockItem } from './inventory.ts'
import { acceptedItems } from './line-answers.ts'
import {
  isExpectedPrice,
  type Line,
  priceFaults,
  quantityFaults,
  tooManyItems,
  twoProducts,
  unitFaults,
  unknownProduct
} from './line-faults.ts'
import { type LineTotals, makeLineTotals, totalOf } from './line-totals.ts'
import { add, compare, type Decimal, minorUnit, multiply, plain, subtract, zero } from './money.ts'
import {
  continuesLine,
  detailsOf,
  isActive,
  type Objections,
  type Order,
  type OrderHeader,
  type OrderItem,
  type ProductReference,
  type PurchaseOrder,
  type PurchaseOrderItem
} from './order.ts'
import { type PricedLine, priceLines, type WantedLine } from './pricing.ts'
import { gtin14 } from './product.ts'
import { isOrAre } from './quantities.ts'
import { refuse } from './refusing.ts'
import { leftOf } from './shipping.ts'

export interface Decision {
  readonly currency: string
  readonly items: readonly OrderItem[]
  readonly total: Decimal
  /** The quantities that the order takes from stock, by product id; negative where stock goes back. */
  readonly taken: ReadonlyMap<string, Decimal>
}

/** The most that can be on hand and, below zero, on backorder: stock documents cannot express more. */
export const mostOnHand = '999999999999.999' as Decimal

/** The most that an order can be worth, in any currency: XML readers may lose digits of larger numbers. */
const mostTotal = '999999999999999999' as Decimal

function find(product: ProductReference, inventory: Inventory): StockItem | undefined {
  return 'gtin' in product ? inventory.byGtin(product.gtin) : inventory.byId(product.productId)
}

/** A product, and the id or GTIN by which an item names it. */
interface Candidate {
  readonly stockItem: StockItem
  readonly product: ProductReference
}

/** The products that an item names and an order can have, each once. */
function candidates({ product, quoted }: PurchaseOrderItem, inventory: Inventory, isUsable: (found: StockItem) => boolean): Candidate[] {
  const found: Candidate[] = []
  for (const named of [product, ...(quoted?.alsoNamed ?? [])]) {
    const stockItem = find(named, inventory)
    if (!stockItem || !isUsable(stockItem) || found.some((other) => other.stockItem.id === stockItem.id)) continue
    found.push({ stockItem, product: named })
  }
  return found
}

/** A quoted line with its unit: the product's own, if the line's codes include it, or else the sender's. */
function inUnitOf({ unit }: StockItem, item: PurchaseOrderItem): PurchaseOrderItem {
  const [sent] = item.quoted?.units ?? []
  if (sent === undefined) return item
  return { ...item, unit: item.quoted?.units.includes(unit) ? unit : sent }
}

function quantities(items: readonly OrderItem[]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>()
  for (const item of items) sums.set(item.productId, add(sums.get(item.productId) ?? zero, item.quantity))
  return sums
}

/** The quantity of each product that an order holds now. */
export function heldBy(order: Order): ReadonlyMap<string, Decimal> {
  return isActive(order.status) ? quantities(order.items) : new Map()
}

/** A priced order, with its lines and all its faults. */
export interface Evaluation extends Decision, Objections {
  readonly lines: readonly Line[]
}

/**
 * Decides a whole order: every item is priced and covered by stock, or one error lists all faults.
 * @param previous the order that this one changes: its lines keep their prices, and its stock counts as available
 * @param mostItems the most items that a changed order may come to, where lines are split because they have two prices
 * @throws DomainError `invalid-order` when the document can never succeed as it is, `order-refused` when the state of
 *   the shop refuses it now
 */
export function decide(...of: Parameters<typeof evaluate>): Omit<Evaluation, keyof Objections> {
  const { invalid, refused, ...decision } = evaluate(...of)
  refuse({ invalid, refused }, of[0].objections)
  return decision
}

/** Prices an order and finds all its faults, except for the order's own objections. The parameters are those of `decide`. */
export function evaluate(
  order: PurchaseOrder,
  inventory: Inventory,
  shopCurrency: string,
  previous?: Order,
  mostItems = Number.POSITIVE_INFINITY
): Evaluation {
  const invalid: Fault[] = []
  const refused: Fault[] = []
  const currency = order.currency ?? shopCurrency
  if (currency !== shopCurrency) invalid.push(wrongCurrency(shopCurrency, currency, 'currency'))
  const held = previous ? heldBy(previous) : new Map<string, Decimal>()
  const isUsable = ({ id, deleted }: StockItem) => !deleted || held.has(id)
  const lines = order.items.flatMap((item, i): Line[] => {
    if (item.quoted?.isUnnamed) return []
    const position = item.position ?? i + 1
    const [found, other] = candidates(item, inventory, isUsable)
    if (found && other) invalid.push(twoProducts(found.stockItem.id, other.stockItem.id, position))
    else if (!found) invalid.push(unknownProduct(item, position))
    if (!found || other) return []
    const { stockItem, product } = found
    return [{ item: inUnitOf(stockItem, { ...item, product }), position, productId: stockItem.id, stockItem }]
  })
  const priced = priceLines(lines.map(wantedLine), previous?.items ?? [])
  const items = itemsOf(lines, priced, makeLineTotals(minorUnit(currency)))
  for (const [i, line] of lines.entries()) {
    const pieces = priced[i]?.pieces ?? []
    invalid.push(...unitFaults(line, pieces))
    refused.push(...priceFaults(line, pieces, currency))
  }
  invalid.push(...quantityFaults(lines, priced, previous?.items ?? []))
  if (items.length > Math.max(mostItems, order.items.length)) invalid.push(tooManyItems(items.length, mostItems))
  const taken = new Map<string, Decimal>()
  for (const [id, wanted] of quantities(items)) taken.set(id, subtract(wanted, held.get(id) ?? zero))
  for (const [id, quantity] of held) if (!taken.has(id)) taken.set(id, subtract(zero, quantity))
  refused.push(...shortages(lines, taken, held), ...uncountable(lines, taken, inventory))
  const total = totalOf(items, minorUnit(currency))
  if (compare(total, mostTotal) > 0) invalid.push({ code: 'total-limit', detail: `An order is worth ${mostTotal} ${currency} at most.` })
  return { currency, items, total, taken, lines, invalid, refused }
}

function wantedLine({ item: { quantity, unit, unitPrice }, productId, stockItem }: Line): WantedLine {
  return { productId, quantity, unit, unitPrice, today: { name: stockItem.name, unit: stockItem.unit, unitPrice: stockItem.price } }
}

/** The items of an order: one for each line, or for each price of a line. */
function itemsOf(lines: readonly Line[], priced: readonly PricedLine[], totals: LineTotals): readonly OrderItem[] {
  const items: OrderItem[] = []
  for (const [i, { item, productId }] of lines.entries()) {
    const ordered = 'gtin' in item.product ? { gtin: item.product.gtin } : {}
    for (const [n, { name, quantity, unit, unitPrice }] of (priced[i]?.pieces ?? []).entries()) {
      const lineTotal = totals(productId, multiply(quantity, unitPrice))
      const details = n === 0 ? detailsOf(item) : { notes: [] }
      items.push({ line: items.length + 1, productId, ...ordered, name, quantity, unit, unitPrice, lineTotal, ...details })
    }
  }
  return items
}

function shortages(lines: readonly Line[], taken: ReadonlyMap<string, Decimal>, held: ReadonlyMap<string, Decimal>): Fault[] {
  return lines.flatMap(({ item, position, productId, stockItem }) => {
    if (item.quoted?.isUncounted) return []
    const more = taken.get(productId) ?? zero
    if (compare(more, zero) <= 0) return []
    if (stockItem.deleted) {
      const detail = `${productId} is no longer sold: the order can keep what it has, but not take more.`
      return [{ code: 'out-of-stock', at: ['item', position, 'quantity'], detail }]
    }
    if (stockItem.backorder || compare(stockItem.onHand, more) >= 0) return []
    const available = compare(stockItem.onHand, zero) > 0 ? `${plain(stockItem.onHand)} ${isOrAre(stockItem.onHand)}` : 'none is'
    const needed = held.has(productId) ? `${plain(more)} more` : plain(more)
    const detail = `There is not enough of ${productId}: the order needs ${needed}, and ${available} on hand.`
    return [{ code: 'out-of-stock', at: ['item', position, 'quantity'], detail }]
  })
}

/** Faults of quantities that would take stock beyond its limits. */
function uncountable(
  lines: readonly Pick<Line, 'position' | 'productId'>[],
  taken: ReadonlyMap<string, Decimal>,
  inventory: Inventory
): Fault[] {
  let positions: ReadonlyMap<string, number> | undefined
  return [...taken].flatMap(([id, quantity]) => {
    const after = subtract(inventory.byId(id)?.onHand ?? zero, quantity)
    const [low, high] = [compare(after, subtract(zero, mostOnHand)) < 0, compare(after, mostOnHand) > 0]
    if (!low && !high) return []
    // The lines are in reverse order, so that the first line of each product is the one that stays.
    positions ??= new Map(lines.toReversed().map(({ productId, position }) => [productId, position]))
    const line = positions.get(id)
    const detail = `The stock of ${id} would be ${plain(after)}; it can be ${low ? `-${mostOnHand} at least` : `${mostOnHand} at most`}.`
    return [{ code: 'stock-limit', detail, ...(line === undefined ? {} : { at: ['item', line, 'quantity'] }) }]
  })
}

/**
 * The stock that an order gives back when it ends, as negative quantities, like `Decision.taken`. What was shipped is gone.
 * @throws DomainError `transition-refused` when the stock of a product would exceed its limit
 */
export function givenBack(order: Order, inventory: Inventory): ReadonlyMap<string, Decimal> {
  const left = isActive(order.status) ? quantities(order.items.map((item) => ({ ...item, quantity: leftOf(item) }))) : []
  const back = new Map([...left].map(([id, quantity]) => [id, subtract(zero, quantity)]))
  const [fault] = uncountable([], back, inventory)
  if (fault)
    throw new DomainError(
      'transition-refused',
      `The quantities of the order cannot go back to stock: ${fault.detail} Correct the stock first.`
    )
  return back
}

/** An inventory without products. With it, `matchesOrder` recognises a product only by its id or GTIN in the order. */
export const emptyInventory: Inventory = { byId: () => undefined, byGtin: () => undefined }

/**
 * Whether a purchase order has the same content as an active order: the test for a repeated `order-number`. An item without
 * a price matches any price.
 */
export function matchesOrder(order: PurchaseOrder, active: Order, inventory: Inventory, shopCurrency: string): boolean {
  if ((order.currency ?? shopCurrency) !== active.currency) return false
  const isDocument = order.hasDocument === true
  if (header(order, isDocument) !== header(active, isDocument)) return false
  const items = acceptedItems(active.items)
  let next = 0
  for (const item of order.items) {
    const count = countMatching(item, items, next, inventory)
    if (count === 0) return false
    next += count
  }
  return next === items.length
}

/**
 * How many consecutive items of an order, starting at `from`, match one item of a document: several where a line was split
 * by price, 0 when they do not match.
 */
function countMatching(item: PurchaseOrderItem, active: readonly OrderItem[], from: number, inventory: Inventory): number {
  let sum = zero
  let count = 0
  for (let before: OrderItem | undefined; compare(sum, item.quantity) < 0; count++) {
    const other = active[from + count]
    if (!other || !agrees(item, other, inventory)) return 0
    if (before ? !continuesLine(before, other) : inOneOrder(detailsOf(item)) !== inOneOrder(detailsOf(other))) return 0
    sum = add(sum, other.quantity)
    before = other
  }
  return compare(sum, item.quantity) === 0 ? count : 0
}

function agrees(item: PurchaseOrderItem, other: OrderItem, inventory: Inventory): boolean {
  const { product, unit, quoted } = item
  const units = quoted?.units ?? (unit === undefined ? [] : [unit])
  return (
    [product, ...(quoted?.alsoNamed ?? [])].some((named) => isSameProduct(named, other, inventory)) &&
    (units.length === 0 || units.includes(other.unit)) &&
    isExpectedPrice(other.unitPrice, item)
  )
}

/** @param other the order of the same customer that has the number */
export function numberTaken(other: { readonly id: string; readonly orderNumber?: string | undefined }): DomainError {
  const detail = `You already have an order with the number ${other.orderNumber} and other content: ${other.id}. Choose another number, or change that order.`
  return new DomainError('order-number-taken', detail, { orderId: other.id, faults: [{ detail, at: ['order-number'] }] })
}

/** The GTIN of the order still counts after the product has lost it, or another product has it. */
function isSameProduct(product: ProductReference, { productId, gtin }: OrderItem, inventory: Inventory): boolean {
  if ('productId' in product) return product.productId === productId
  return (gtin !== undefined && gtin14(product.gtin) === gtin14(gtin)) || inventory.byGtin(product.gtin)?.id === productId
}

/** The extension that names the message in which cXML sends an order. Some systems renew it when they send the order again. */
export const messageId = 'payloadID'

function header(order: OrderHeader, isDocument: boolean): string {
  const { orderNumber, issueDate, buyer, shipTo, billTo, requestedDeliveryDate, notes } = order
  const extensions = isDocument ? order.extensions.filter(({ name }) => name !== messageId) : order.extensions
  const parts = { orderNumber, issueDate, buyer, shipTo, billTo, requestedDeliveryDate, notes, extensions }
  // The shop has one currency, which an order need not name.
  return inOneOrder(parts satisfies Record<Exclude<keyof OrderHeader, 'currency'>, unknown>)
}

/** A value as JSON, with the members of objects in one order. */
function inOneOrder(value: object): string {
  const sorted = (_key: string, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part
  return JSON.stringify(value, sorted)
}
