import { type Fault, StoreOpenError } from './errors.ts'

/** The codes that this Node.js has names for: the currencies in use, and many that were. */
const known: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/**
 * Checks that a store can be opened with a currency. A store without prices accepts any currency that exists. A store with prices
 * accepts only their currency, even if this Node.js does not know it.
 * @param stored the currency of the stored prices, if any
 * @throws StoreOpenError if the prices are in another currency
 */
export function checkCurrency(stored: string | null | undefined, wanted: string, hasPrices: boolean): void {
  if (!hasPrices && !known.has(wanted))
    throw new StoreOpenError(`CURRENCY is ${wanted}, which is not an ISO 4217 currency code: correct it`)
  if (!stored || stored === wanted || !hasPrices) return
  throw new StoreOpenError(
    `the prices in this database are in ${stored}, and CURRENCY is ${wanted}: set CURRENCY=${stored}, or begin a new database for ${wanted}`
  )
}

/** The fault of an amount in another currency than the shop's. @param at the element that names the currency */
export function wrongCurrency(shop: string, sent: string, at: 'currency' | 'price'): Fault {
  return { code: 'wrong-currency', at: [at], detail: `This shop sells in ${shop}, not in ${sent}.` }
}
