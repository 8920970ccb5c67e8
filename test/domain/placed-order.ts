import { decimal } from '../../domain/money.ts'
import type { Order, OrderItem } from '../../domain/order.ts'

/** A line of a placed order: two hammers. */
export function placedItem(line: number, more: Partial<OrderItem> = {}): OrderItem {
  const price = { quantity: decimal('2'), unit: 'C62', unitPrice: decimal('9.99'), lineTotal: decimal('19.98') }
  return { line, productId: 'a', name: 'Hammer', ...price, notes: [], ...more }
}

export function placedOrder(items: readonly OrderItem[], more: Partial<Order> = {}): Order {
  const head = { id: 'o', version: 1, status: 'accepted', currency: 'EUR', total: decimal('1'), placedAt: 0, modifiedAt: 0 } as const
  return { ...head, notes: [], extensions: [], items, ...more }
}
