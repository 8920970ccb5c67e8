import { anyPrice, checkCurrency } from '../currency.ts'
import type { Connection } from './connection.ts'

/** Stores the shop's currency with its prices. @throws StoreOpenError when the prices are in another currency */
export function keepCurrency(db: Connection, currency: string): void {
  const kept = db.prepare<[], string | null>('SELECT currency FROM catalogue').pluck()
  if (kept.get() === currency) return
  const hasPrices = db.prepare<[], number>(`SELECT ${anyPrice}`).pluck()
  const keep = db.prepare<[string]>('UPDATE catalogue SET currency = ?')
  db.transaction(() => {
    checkCurrency(kept.get(), currency, hasPrices.get() === 1)
    keep.run(currency)
  }).immediate()
}
