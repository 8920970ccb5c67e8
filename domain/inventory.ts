import { compare, type Decimal, subtract, zero } from './money.ts'
import { type Availability, availabilityOf, type Product } from './product.ts'
import { revised, type Versioned } from './revised.ts'

/** The part of a product that a decision about an order needs. The store reads it while the product's stock is locked. */
export interface StockItem {
  readonly id: string
  readonly name: string
  readonly price: Decimal
  readonly unit: string
  readonly minimumQuantity?: Decimal
  readonly quantityStep?: Decimal
  readonly backorder: boolean
  readonly onHand: Decimal
  readonly deleted: boolean
}

export interface Inventory {
  byId(id: string): StockItem | undefined
  /** Takes a GTIN of any length, and finds no deleted product: deletion frees the GTIN. */
  byGtin(gtin: string): StockItem | undefined
}

/** A stock item with everything that an order changes of it. */
export interface LockedItem extends StockItem {
  readonly availability: Availability
  /** The version of the product. */
  readonly version: number
  readonly stock: Versioned
}

export interface StockChange {
  readonly onHand: Decimal
  readonly stock: Versioned
  /** Present if the availability of the product changes. The catalogue then gets a new revision, and the product gets its time. */
  readonly product?: Pick<LockedItem, 'availability' | 'version'>
}

/**
 * Decides what an order changes of a product and its stock; undefined when nothing.
 * @param taken negative where stock goes back
 * @param now milliseconds since the epoch
 */
export function decideStock(item: LockedItem, taken: Decimal, now: number): StockChange | undefined {
  if (compare(taken, zero) === 0) return undefined
  const onHand = subtract(item.onHand, taken)
  const change = { onHand, stock: revised(item.stock, now) }
  const availability = newAvailability(item, onHand)
  return availability ? { ...change, product: { availability, version: item.version + 1 } } : change
}

/**
 * The availability that a product shows with a new stock. Undefined if it stays the same, or if the product is deleted. A product
 * whose availability changes gets a new version and raises the catalogue's revision.
 */
export function newAvailability(
  { backorder, availability, deleted }: Pick<Product, 'backorder' | 'availability'> & { readonly deleted: boolean },
  onHand: Decimal
): Availability | undefined {
  const shown = availabilityOf(onHand, backorder)
  return deleted || shown === availability ? undefined : shown
}
