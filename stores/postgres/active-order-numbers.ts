import type { Order } from '../../domain/order.ts'
import { inactiveStatuses } from '../rows.ts'
import type { Queries } from './database.ts'
import { type OrderRow, orderColumns, toOrder } from './rows.ts'

interface Numbered {
  readonly customer?: string
  readonly order: { readonly orderNumber?: string }
}

/** The active orders of customers, by order number. */
export class ActiveOrderNumbers {
  readonly #orders = new Map<string, Order>()

  static async read({ query }: Queries, wanted: readonly Numbered[]): Promise<ActiveOrderNumbers> {
    const active = new ActiveOrderNumbers()
    const pairs = wanted.flatMap(({ customer, order: { orderNumber } }) =>
      customer === undefined || orderNumber === undefined ? [] : { customer, orderNumber }
    )
    if (pairs.length === 0) return active
    const rows = await query<OrderRow>(
      `SELECT ${orderColumns} FROM purchase_order o
        JOIN (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS u (customer, number)) w
          ON o.customer = w.customer AND o.order_number = w.number
        WHERE o.customer IS NOT NULL AND o.order_number IS NOT NULL AND o.status NOT IN (${inactiveStatuses})`,
      [pairs.map(({ customer }) => customer), pairs.map(({ orderNumber }) => orderNumber)]
    )
    for (const row of rows) active.add(toOrder(row))
    return active
  }

  find(customer: string, orderNumber: string): Order | undefined {
    return this.#orders.get(name(customer, orderNumber))
  }

  add(order: Order): void {
    const { customer, orderNumber } = order
    if (customer !== undefined && orderNumber !== undefined) this.#orders.set(name(customer, orderNumber), order)
  }

  /** Frees the number of an order. */
  remove({ id, customer, orderNumber }: Order): void {
    const key = name(customer, orderNumber)
    if (this.#orders.get(key)?.id === id) this.#orders.delete(key)
  }
}

function name(customer: string | undefined, orderNumber: string | undefined): string {
  return JSON.stringify([customer, orderNumber])
}
