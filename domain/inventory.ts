import type { Decimal } from './money.ts'

/** What a decision needs to know of a product, as it stands while its row is locked. */
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
  /** Only among the products there are: a deleted one has given its GTIN up. */
  byGtin(gtin: string): StockItem | undefined
}
