import { otherCurrency } from '../currency.ts'
import type { Database } from './database.ts'

/**
 * Keeps the shop's currency with its prices; while there are none, another may be chosen.
 * @throws Error when the prices that there are have another
 */
export async function keepCurrency(database: Database, currency: string): Promise<void> {
  const [row] = await database.query<{ currency: string | null }>('SELECT currency FROM catalogue')
  if (row?.currency === currency) return
  await database.transaction(async ({ query }) => {
    const [before] = await query<{ currency: string | null }>('SELECT currency FROM catalogue FOR UPDATE')
    const [found] = await query<{ some: boolean }>('SELECT EXISTS (SELECT 1 FROM product) OR EXISTS (SELECT 1 FROM purchase_order) AS some')
    if (before?.currency && before.currency !== currency && found?.some) throw otherCurrency(before.currency, currency)
    await query('UPDATE catalogue SET currency = $1', [currency])
  })
}
