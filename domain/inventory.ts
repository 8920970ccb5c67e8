import type { Decimal } from './money.ts'
import { type Availability, availabilityOf, type Product } from './product.ts'

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
  /** Finds no deleted product: deletion frees the GTIN. */
  byGtin(gtin: string): StockItem | undefined
}

/**
 * The availability that an order makes a product show, undefined where it stays. A product that shows another one has a
 * new version and raises the catalogue's revision.
 */
export function newAvailability(
  { backorder, availability, deleted }: Pick<Product, 'backorder' | 'availability'> & { readonly deleted: boolean },
  onHand: Decimal
): Availability | undefined {
  const shown = availabilityOf(onHand, backorder)
  return deleted || shown === availability ? undefined : shown
}
