import { checkCurrency } from '../../domain/currency.ts'
import { anyPrice } from '../rows.ts'
import type { Connection } from './connection.ts'

/** Stores the currency of the prices. @throws StoreOpenError if the stored prices are in another currency */
export function storeCurrency(db: Connection, currency: string): void {
  const stored = db.prepare<[], string | null>('SELECT currency FROM catalogue').pluck()
  if (stored.get() === currency) return
  const hasPrices = db.prepare<[], number>(`SELECT ${anyPrice}`).pluck()
  const update = db.prepare<[string]>('UPDATE catalogue SET currency = ?')
  db.transaction(() => {
    checkCurrency(stored.get(), currency, hasPrices.get() === 1)
    update.run(currency)
  }).immediate()
}
