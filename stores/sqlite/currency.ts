import { otherCurrency } from '../currency.ts'
import { connectWriter } from './connection.ts'

/**
 * Keeps the shop's currency with its prices; while there are none, another may be chosen.
 * @throws Error when the prices that there are have another
 */
export function keepCurrency(path: string, currency: string): void {
  const db = connectWriter(path)
  try {
    const kept = db.prepare<[], string | null>('SELECT currency FROM catalogue').pluck()
    if (kept.get() === currency) return
    const hasPrices = db.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM product) OR EXISTS (SELECT 1 FROM purchase_order)').pluck()
    const keep = db.prepare<[string]>('UPDATE catalogue SET currency = ?')
    db.transaction(() => {
      const before = kept.get()
      if (before && before !== currency && hasPrices.get() === 1) throw otherCurrency(before, currency)
      keep.run(currency)
    }).immediate()
  } finally {
    db.close()
  }
}
