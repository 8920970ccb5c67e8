import type { StockItem } from '../../domain/inventory.ts'
import { decimal } from '../../domain/money.ts'

/** A piece of the inventory at 9.99, so many of which are on hand. */
export function stockItem(id: string, onHand: string | number, more: Partial<StockItem> = {}): StockItem {
  return { id, name: id, price: decimal('9.99'), unit: 'C62', backorder: false, onHand: decimal(String(onHand)), deleted: false, ...more }
}
