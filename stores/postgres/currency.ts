import { checkCurrency } from '../../domain/currency.ts'
import { anyPrice } from '../rows.ts'
import type { Database } from './database.ts'

/** Stores the currency of the prices. @throws StoreOpenError if the stored prices are in another currency */
export async function storeCurrency(database: Database, currency: string): Promise<void> {
  const [row] = await database.query<{ currency: string | null }>('SELECT currency FROM catalogue')
  if (row?.currency === currency) return
  await database.transaction(async ({ query }) => {
    const [before] = await query<{ currency: string | null }>('SELECT currency FROM catalogue FOR UPDATE')
    const [found] = await query<{ some: boolean }>(`SELECT ${anyPrice} AS some`)
    checkCurrency(before?.currency, currency, found?.some === true)
    await query('UPDATE catalogue SET currency = $1', [currency])
  })
}
