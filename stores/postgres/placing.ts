import { randomUUID } from 'node:crypto'
import { replayed } from '../../domain/idempotency.ts'
import type { Order } from '../../domain/order.ts'
import { decidePlacing } from '../../domain/order-writes.ts'
import type { Placed, Placing } from '../../domain/store.ts'
import { orderContent, summaryOf } from '../rows.ts'
import type { Queries } from './database.ts'
import type { OrderBatch } from './order-batch.ts'
import type { WrittenDocument } from './order-documents.ts'

/** The orders that a transaction places. They are decided in memory and written at its end. */
export class NewOrders {
  readonly #orders: { readonly order: Order; readonly content: string }[] = []
  /** The documents that the orders came from. */
  readonly documents: WrittenDocument[] = []

  /** @throws DomainError of the verb */
  place(placing: Placing, batch: OrderBatch): Placed {
    const { idempotency } = placing
    const before = idempotency && replayed('order', idempotency, batch.keys.find(idempotency))
    if (before) return before
    const { taken, events, ...answer } = decidePlacing(placing, randomUUID(), batch)
    if (placing.mode === 'dry-run') return { ...answer, replayed: false }
    batch.inventory.take(taken, batch.now)
    if (answer.outcome === 'placed') {
      batch.numbers.add(answer.order)
      const content = orderContent(answer.order)
      this.#orders.push({ order: answer.order, content })
      batch.events.add(events, { status: answer.order.status, content })
      if (placing.document) {
        this.documents.push({ orderId: answer.order.id, ...placing.document })
        batch.sent.add(answer.order, placing.document)
      }
    }
    if (idempotency) batch.keys.keep(idempotency, answer)
    return { ...answer, replayed: false }
  }

  /** Sends the new rows in the order of arrival, without waiting for the answer. */
  write({ query }: Queries): void {
    if (this.#orders.length === 0) return
    const orders = this.#orders.map(({ order }) => order)
    const summaries = orders.map(summaryOf)
    void query(
      `INSERT INTO purchase_order (id, version, customer, order_number, status, placed_at, modified_at, content,
          item_count, currency, total, buyer_name, lines)
        SELECT n.id, n.version, n.customer, n.order_number, n.status, n.placed_at, n.modified_at, n.content,
          n.item_count, n.currency, n.total, n.buyer_name, n.lines
        FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::json[],
            $9::integer[], $10::text[], $11::text[], $12::text[], $13::json[])
          AS n (id, version, customer, order_number, status, placed_at, modified_at, content, item_count, currency, total, buyer_name, lines)`,
      [
        orders.map(({ id }) => id),
        orders.map(({ version }) => version),
        orders.map(({ customer }) => customer ?? null),
        orders.map(({ orderNumber }) => orderNumber ?? null),
        orders.map(({ status }) => status),
        orders.map(({ placedAt }) => placedAt),
        orders.map(({ modifiedAt }) => modifiedAt),
        this.#orders.map(({ content }) => content),
        summaries.map(({ item_count }) => item_count),
        summaries.map(({ currency }) => currency),
        summaries.map(({ total }) => total),
        summaries.map(({ buyer_name }) => buyer_name),
        summaries.map(({ lines }) => lines)
      ]
    )
  }
}
