/** The rules of placing and changing an order: pure, so that every store decides alike on the rows that it has locked. */

import { DomainError, type Fault } from './errors.ts'
import { add, compare, type Decimal, minorUnit, multiply, plain, round, subtract, zero } from './money.ts'
import {
  holdsStock,
  type Order,
  type OrderHeader,
  type OrderItem,
  type ProductReference,
  type PurchaseOrder,
  type PurchaseOrderItem
} from './order.ts'

/** What a decision needs to know of a product, as it stands while its row is locked. */
export interface Shelf {
  readonly id: string
  readonly name: string
  readonly price: Decimal
  readonly unit: string
  readonly backorder: boolean
  readonly onHand: Decimal
  readonly deleted: boolean
}

export interface Shelves {
  byId(id: string): Shelf | undefined
  /** Only among the products there are: a deleted one has given its GTIN up. */
  byGtin(gtin: string): Shelf | undefined
}

export interface Decision {
  readonly currency: string
  readonly items: readonly OrderItem[]
  readonly total: Decimal
  /** What leaves the shelves, by product id; negative where stock comes back. */
  readonly taken: ReadonlyMap<string, Decimal>
}

/** The most that can be on hand, and, below zero, owed: what the documents of stock can say. */
const mostOnHand = '999999999999.999' as Decimal

/** The most that an order can be worth, in any currency: beyond it readers of XML lose count of the digits. */
const mostTotal = '999999999999999999' as Decimal

function find(item: PurchaseOrderItem, shelves: Shelves): Shelf | undefined {
  return 'gtin' in item.product ? shelves.byGtin(item.product.gtin) : shelves.byId(item.product.productId)
}

function quantities(items: readonly OrderItem[]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>()
  for (const item of items) sums.set(item.productId, add(sums.get(item.productId) ?? zero, item.quantity))
  return sums
}

/** What an order holds of each product now. */
export function heldBy(order: Order): ReadonlyMap<string, Decimal> {
  return holdsStock(order.status) ? quantities(order.items) : new Map()
}

/**
 * Decides an order whole: every item is priced and covered by stock, or all that is wrong is named at once.
 * @param previous the order that this one changes: its lines keep their price, and its stock counts as there
 * @throws DomainError `invalid-order` when the document can never succeed as it is, `order-refused` when the state of
 *   the shop refuses it now
 */
export function decide(order: PurchaseOrder, shelves: Shelves, shopCurrency: string, previous?: Order): Decision {
  const invalid: Fault[] = []
  const refused: Fault[] = []
  const currency = order.currency ?? shopCurrency
  if (currency !== shopCurrency) {
    invalid.push({ code: 'wrong-currency', at: ['currency'], detail: `This shop sells in ${shopCurrency}, not in ${currency}.` })
  }
  const kept = new Map(previous?.items.map((item) => [item.productId, item]))
  const items = order.items.flatMap((item, i) => price(item, i + 1, find(item, shelves), kept, currency, invalid, refused))
  const held = previous ? heldBy(previous) : new Map<string, Decimal>()
  const taken = new Map<string, Decimal>()
  for (const [id, wanted] of quantities(items)) taken.set(id, subtract(wanted, held.get(id) ?? zero))
  for (const [id, quantity] of held) if (!taken.has(id)) taken.set(id, subtract(zero, quantity))
  refused.push(...shortages(items, taken, shelves), ...uncountable(items, taken, shelves))
  const total = items.reduce<Decimal>((sum, item) => add(sum, item.lineTotal), round(zero, minorUnit(currency)))
  if (compare(total, mostTotal) > 0) invalid.push({ code: 'total-limit', detail: `An order is worth ${mostTotal} ${currency} at most.` })
  const faults = inOrder([...invalid, ...refused])
  if (invalid.length > 0) throw new DomainError('invalid-order', summary(faults, 'can never be placed as it is'), { faults })
  if (refused.length > 0) throw new DomainError('order-refused', summary(faults, 'cannot be placed now'), { faults })
  return { currency, items, total, taken }
}

/** The header's faults first, then each line's, then those of the order as a whole. */
function inOrder(faults: readonly Fault[]): readonly Fault[] {
  const line = ({ at }: Fault) => (at ? (at[0] === 'item' ? Number(at[1]) : 0) : Number.MAX_SAFE_INTEGER)
  return faults.toSorted((a, b) => line(a) - line(b))
}

function summary(faults: readonly Fault[], what: string): string {
  return `The order ${what}: ${faults.length === 1 ? 'one thing stands' : `${faults.length} things stand`} in its way. Nothing was stored.`
}

function price(
  item: PurchaseOrderItem,
  line: number,
  shelf: Shelf | undefined,
  kept: ReadonlyMap<string, OrderItem>,
  currency: string,
  invalid: Fault[],
  refused: Fault[]
): OrderItem[] {
  const before = shelf ? kept.get(shelf.id) : undefined
  if (!shelf || (shelf.deleted && !before)) {
    const [element, value] = 'gtin' in item.product ? ['gtin', item.product.gtin] : ['product-id', item.product.productId]
    const name = element === 'gtin' ? 'GTIN' : 'id'
    invalid.push({
      code: 'unknown-product',
      at: ['item', line, element],
      detail: `There is no product with the ${name} ${JSON.stringify(value)}.`
    })
    return []
  }
  const { id, name, price: unitPrice, unit } = before ? { ...before, id: before.productId, price: before.unitPrice } : shelf
  if (item.unit !== undefined && item.unit !== unit) {
    invalid.push({ code: 'wrong-unit', at: ['item', line, 'quantity'], detail: `${id} is sold by the unit ${unit}, not ${item.unit}.` })
  }
  if (item.unitPrice !== undefined && compare(item.unitPrice, unitPrice) !== 0) {
    refused.push({
      code: 'price-changed',
      at: ['item', line, 'unit-price'],
      detail: `${id} costs ${unitPrice} ${currency}, not the expected ${item.unitPrice}.`
    })
  }
  const lineTotal = round(multiply(item.quantity, unitPrice), minorUnit(currency))
  const ordered = 'gtin' in item.product ? { gtin: item.product.gtin } : {}
  return [{ line, productId: id, ...ordered, name, quantity: item.quantity, unit, unitPrice, lineTotal, notes: item.notes }]
}

function shortages(items: readonly OrderItem[], taken: ReadonlyMap<string, Decimal>, shelves: Shelves): Fault[] {
  return items.flatMap((item) => {
    const shelf = shelves.byId(item.productId)
    const more = taken.get(item.productId) ?? zero
    if (!shelf || compare(more, zero) <= 0) return []
    if (shelf.deleted) {
      const detail = `${item.productId} is no longer sold; the order can keep what it has of it, not take more.`
      return [{ code: 'out-of-stock', at: ['item', item.line, 'quantity'], detail }]
    }
    if (shelf.backorder || compare(shelf.onHand, more) >= 0) return []
    const available = compare(shelf.onHand, zero) > 0 ? plain(shelf.onHand) : 'none'
    const detail = `${item.productId} is short: the order needs ${plain(more)} more of it, ${available} is on hand.`
    return [{ code: 'out-of-stock', at: ['item', item.line, 'quantity'], detail }]
  })
}

/** What would take a shelf to where it cannot be counted, as only a mistake can. */
function uncountable(items: readonly OrderItem[], taken: ReadonlyMap<string, Decimal>, shelves: Shelves): Fault[] {
  return [...taken].flatMap(([id, quantity]) => {
    const after = subtract(shelves.byId(id)?.onHand ?? zero, quantity)
    const [low, high] = [compare(after, subtract(zero, mostOnHand)) < 0, compare(after, mostOnHand) > 0]
    if (!low && !high) return []
    const line = items.find(({ productId }) => productId === id)?.line
    const detail = `The stock of ${id} would be ${plain(after)}; it can be ${low ? `-${mostOnHand} at least` : `${mostOnHand} at most`}.`
    return [{ code: 'stock-limit', detail, ...(line === undefined ? {} : { at: ['item', line, 'quantity'] }) }]
  })
}

/**
 * What an order that ends gives back: negative, since it is what leaves the shelves.
 * @throws DomainError `transition-refused` when a shelf would hold more than can be counted
 */
export function givenBack(order: Order, shelves: Shelves): ReadonlyMap<string, Decimal> {
  const back = new Map([...heldBy(order)].map(([id, held]) => [id, subtract(zero, held)]))
  const [fault] = uncountable([], back, shelves)
  if (fault) throw new DomainError('transition-refused', `What the order holds cannot go back: ${fault.detail} Count it first.`)
  return back
}

/**
 * Whether a purchase order says the same as an order that stands: the test for a repeated `order-number`. A price that
 * it does not name agrees with any.
 */
export function sameContent(order: PurchaseOrder, standing: Order, shelves: Shelves, shopCurrency: string): boolean {
  if ((order.currency ?? shopCurrency) !== standing.currency) return false
  if (header(order) !== header(standing) || order.items.length !== standing.items.length) return false
  return order.items.every((item, i) => {
    const other = standing.items[i]
    return (
      other !== undefined &&
      isSameProduct(item.product, other, shelves) &&
      compare(item.quantity, other.quantity) === 0 &&
      (item.unit === undefined || item.unit === other.unit) &&
      (item.unitPrice === undefined || compare(item.unitPrice, other.unitPrice) === 0) &&
      JSON.stringify(item.notes) === JSON.stringify(other.notes)
    )
  })
}

/** @param other the order of the same customer that has the number */
export function numberTaken(other: Order): DomainError {
  const detail = `The order number ${other.orderNumber} stands for another order of yours, ${other.id}, with other content.`
  const faults = [{ detail: 'This number stands for another order of yours.', at: ['order-number'] }]
  return new DomainError('order-number-taken', detail, { orderId: other.id, faults })
}

/** A GTIN is that of the order also when the product has lost it since, or another has it. */
function isSameProduct(product: ProductReference, { productId, gtin }: OrderItem, shelves: Shelves): boolean {
  if ('productId' in product) return product.productId === productId
  return product.gtin === gtin || shelves.byGtin(product.gtin)?.id === productId
}

function header(order: OrderHeader): string {
  const { orderNumber, issueDate, buyer, shipTo, billTo, requestedDeliveryDate, notes, extensions } = order
  const sorted = (_key: string, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value
  return JSON.stringify({ orderNumber, issueDate, buyer, shipTo, billTo, requestedDeliveryDate, notes, extensions }, sorted)
}
