/** What can be wrong with a line of an order. */

import type { Fault } from './errors.ts'
import { compare, plain } from './money.ts'
import type { PurchaseOrderItem } from './order.ts'
import type { Piece } from './pricing.ts'
import type { Shelf } from './shelf.ts'

/** An item of a document with the product that it names. */
export interface Line {
  readonly item: PurchaseOrderItem
  /** Of the item in the document, from 1. */
  readonly position: number
  readonly productId: string
  readonly shelf: Shelf
}

export function unknownProduct({ product }: PurchaseOrderItem, position: number): Fault {
  const [element, value, name] = 'gtin' in product ? ['gtin', product.gtin, 'GTIN'] : ['product-id', product.productId, 'id']
  const detail = `There is no product with the ${name} ${JSON.stringify(value)}.`
  return { code: 'unknown-product', at: ['item', position, element], detail }
}

export function unitFaults({ item, position, productId, shelf }: Line, pieces: readonly Piece[]): readonly Fault[] {
  const at = ['item', position, 'quantity']
  const other = pieces.find(({ unit }) => item.unit !== undefined && unit !== item.unit)
  if (other) return [{ code: 'wrong-unit', at, detail: `${productId} is sold by the unit ${other.unit}, not ${item.unit}.` }]
  const [first, second] = [pieces[0], pieces.find(({ unit }) => unit !== pieces[0]?.unit)]
  if (!first || !second) return []
  const detail = `${productId} is sold by the unit ${shelf.unit} now: the order can keep the ${plain(first.quantity)} ${first.unit} that it has; more of it goes into a line of its own.`
  return [{ code: 'wrong-unit', at, detail }]
}

export function priceFaults({ item, position, productId }: Line, pieces: readonly Piece[], currency: string): readonly Fault[] {
  const expected = item.unitPrice
  if (expected === undefined) return []
  const others = pieces.filter(({ unitPrice }) => compare(unitPrice, expected) !== 0)
  if (others.length === 0) return []
  const costs = pieces.map(({ quantity, unitPrice }) => `${quantity} at ${unitPrice} ${currency}`).join(' and ')
  const detail =
    pieces.length === 1
      ? `${productId} costs ${others[0]?.unitPrice} ${currency}, not the expected ${expected}.`
      : `${productId} does not cost the expected ${expected} throughout, but ${costs}: what the order has keeps its price, more of it costs today's. Leave unit-price out, or order what is more in a line of its own.`
  return [{ code: 'price-changed', at: ['item', position, 'unit-price'], detail }]
}

/** Of an order that has more items than its document, since some of its lines have two prices. */
export function tooManyItems(count: number, most: number): Fault {
  const detail = `The order would have ${count} items, since lines that have more than one price become several; it can have ${most} at most. Order what is more in another order.`
  return { code: 'too-many-items', detail }
}
