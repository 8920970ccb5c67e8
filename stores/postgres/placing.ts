import { randomUUID } from 'node:crypto'
import { textOf } from '../../domain/deferred.ts'
import type { Order, OrderHeader, PurchaseOrder } from '../../domain/order.ts'
import { type Decision, decide, matchesOrder, numberTaken } from '../../domain/placing.ts'
import type { Placed, Placing } from '../../domain/store.ts'
import { orderContent, summaryOf } from '../rows.ts'
import type { Queries } from './database.ts'
import { LargeTwin, type OrderBatch } from './order-writes.ts'

/** The orders that a transaction places: decided in memory, and written at its end. */
export class NewOrders {
  readonly #orders: Order[] = []

  /** @throws DomainError what the verb throws */
  place(placing: Placing, batch: OrderBatch): Placed {
    const { idempotency } = placing
    const before = idempotency && batch.keys.find(idempotency)
    if (before) return { ...before, replayed: true }
    const other = active(placing, batch)
    const placed = { order: other ?? this.#take(placing, batch), outcome: other ? 'repeated' : 'placed', replayed: false } as const
    if (idempotency) batch.keys.keep(idempotency, placed)
    return placed
  }

  #take(placing: Placing, { inventory, numbers, currency, at }: OrderBatch): Order {
    const decision = decide(placing.order, inventory, currency)
    inventory.take(decision.taken)
    const order = accepted(placing, decision, at)
    numbers.stand(order)
    this.#orders.push(order)
    return order
  }

  /** Sends the new rows, in the order of arrival, which is that of their numbers; nothing is waited for. */
  write({ query }: Queries): void {
    const orders = this.#orders
    if (orders.length === 0) return
    const summaries = orders.map(summaryOf)
    void query(
      `INSERT INTO purchase_order (id, version, customer, order_number, status, placed_at, modified_at, content,
          item_count, currency, total, buyer_name, lines)
        SELECT n.id, 1, n.customer, n.order_number, n.status, n.placed_at, n.placed_at, n.content,
          n.item_count, n.currency, n.total, n.buyer_name, n.lines
        FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::json[],
            $7::integer[], $8::text[], $9::text[], $10::text[], $11::json[])
          AS n (id, customer, order_number, status, placed_at, content, item_count, currency, total, buyer_name, lines)`,
      [
        orders.map(({ id }) => id),
        orders.map(({ customer }) => customer ?? null),
        orders.map(({ orderNumber }) => orderNumber ?? null),
        orders.map(({ status }) => status),
        orders.map(({ placedAt }) => placedAt),
        orders.map(orderContent),
        summaries.map(({ item_count }) => item_count),
        summaries.map(({ currency }) => currency),
        summaries.map(({ total }) => total),
        summaries.map(({ buyer_name }) => buyer_name),
        summaries.map(({ lines }) => lines)
      ]
    )
  }
}

/** @throws LargeTwin, DomainError `order-number-taken` */
function active(placing: Placing, { numbers, inventory, currency, place }: OrderBatch): Order | undefined {
  const other = numbers.find(placing)
  if (place === 'serving' && textOf(other) !== undefined) throw new LargeTwin()
  if (other && !matchesOrder(placing.order, other, inventory, currency)) throw numberTaken(other)
  return other
}

function accepted({ order, customer, status }: Placing, decision: Decision, at: number): Order {
  const owner = customer === undefined ? {} : { customer }
  return { ...terms(order, decision), ...owner, id: randomUUID(), version: 1, status, placedAt: at, modifiedAt: at }
}

/** What an order says, priced. */
export function terms(
  order: PurchaseOrder,
  { currency, items, total }: Decision
): OrderHeader & Pick<Order, 'currency' | 'items' | 'total'> {
  const { items: _items, ...header } = order
  return { ...header, currency, items, total }
}
