import { StoreOpenError } from '../domain/errors.ts'

/** Whether there is anything that has a price. */
export const anyPrice = 'EXISTS (SELECT 1 FROM product) OR EXISTS (SELECT 1 FROM purchase_order)'

/**
 * Whether a store may go on with a currency: while it has no prices, any may be chosen.
 * @param kept the currency that is kept with the prices, if one is
 * @throws StoreOpenError when the prices that there are have another
 */
export function checkCurrency(kept: string | null | undefined, wanted: string, hasPrices: boolean): void {
  if (!kept || kept === wanted || !hasPrices) return
  throw new StoreOpenError(
    `the prices in this database are in ${kept}, and CURRENCY is ${wanted}: set CURRENCY=${kept}, or begin a new database for ${wanted}`
  )
}
