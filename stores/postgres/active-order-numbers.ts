import type { Order } from '../../domain/order.ts'
import { inactiveStatuses, type SizedOrderRow } from '../rows.ts'
import type { Queries } from './database.ts'
import { readContents, sizedOrderColumns } from './order-contents.ts'
import { toOrder } from './rows.ts'

/** A number that a customer's order has or wants. */
export interface Numbered {
  readonly customer: string
  readonly orderNumber: string
}

/** The active orders of customers, by order number. */
export class ActiveOrderNumbers {
  readonly #orders = new Map<string, Order>()
  /** The orders whose contents are not read yet. */
  readonly #unread = new Map<string, SizedOrderRow>()

  /** Reads which orders have the numbers, without their contents. @param known returns an order that is read already, by id */
  static async read(
    { query }: Queries,
    wanted: readonly Numbered[],
    known: (id: string) => Order | undefined
  ): Promise<ActiveOrderNumbers> {
    const active = new ActiveOrderNumbers()
    if (wanted.length === 0) return active
    const rows = await query<SizedOrderRow>(
      `SELECT ${sizedOrderColumns} FROM purchase_order o
        JOIN (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS u (customer, number)) w
          ON o.customer = w.customer AND o.order_number = w.number
        WHERE o.customer IS NOT NULL AND o.order_number IS NOT NULL AND o.status NOT IN (${inactiveStatuses})`,
      [wanted.map(({ customer }) => customer), wanted.map(({ orderNumber }) => orderNumber)]
    )
    for (const row of rows) {
      const order = known(row.id)
      if (order) active.add(order)
      else active.#unread.set(name(row.customer, row.order_number), row)
    }
    return active
  }

  /** Bytes that must be read to know the order that has a number. */
  sizeOf({ customer, orderNumber }: Numbered): number {
    return this.#unread.get(name(customer, orderNumber))?.content_size ?? 0
  }

  async readContents(queries: Queries, wanted: readonly Numbered[]): Promise<void> {
    const names = new Set(wanted.map(({ customer, orderNumber }) => name(customer, orderNumber)))
    const unread = [...names].flatMap((name) => this.#unread.get(name) ?? [])
    for (const row of await readContents(queries, unread)) {
      this.#unread.delete(name(row.customer, row.order_number))
      this.add(toOrder(row))
    }
  }

  /** Finds the order that has a number. Its content must have been read. */
  find(customer: string, orderNumber: string): Order | undefined {
    const key = name(customer, orderNumber)
    if (this.#unread.has(key)) throw new Error('the content of an order that has a number was not read')
    return this.#orders.get(key)
  }

  idOf(customer: string, orderNumber: string): string | undefined {
    const key = name(customer, orderNumber)
    return (this.#unread.get(key) ?? this.#orders.get(key))?.id
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

function name(customer: string | null | undefined, orderNumber: string | null | undefined): string {
  return JSON.stringify([customer, orderNumber])
}
