import { StoreOpenError } from '../domain/errors.ts'

/** SQL: whether the database has prices. */
export const anyPrice = 'EXISTS (SELECT 1 FROM product) OR EXISTS (SELECT 1 FROM purchase_order)'

/**
 * Checks that a store can be opened with a currency. A store without prices accepts any.
 * @param kept the currency that is stored with the prices, if any
 * @throws StoreOpenError when the prices are in another currency
 */
export function checkCurrency(kept: string | null | undefined, wanted: string, hasPrices: boolean): void {
  if (!kept || kept === wanted || !hasPrices) return
  throw new StoreOpenError(
    `the prices in this database are in ${kept}, and CURRENCY is ${wanted}: set CURRENCY=${kept}, or begin a new database for ${wanted}`
  )
}
