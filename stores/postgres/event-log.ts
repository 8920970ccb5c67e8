import type { NewEvent } from '../../domain/event.ts'
import { newEventId } from '../event-ids.ts'
import { type EventOrder, orderColumnsOf } from '../event-rows.ts'
import type { Queries } from './database.ts'

interface PendingEvent extends NewEvent {
  readonly status: string | null
  readonly weight: number
  /** Null if it is long. It is copied when the order gets another content. */
  readonly content: string | null
}

/** The events of a transaction. They are written as its last statement. */
export class EventLog {
  readonly #events: PendingEvent[] = []
  readonly #keptOrders = new Set<string>()

  get size(): number {
    return this.#events.length
  }

  /** @param order the order with its present content, if the events are of an order */
  add(events: readonly NewEvent[], order?: EventOrder): void {
    const columns = orderColumnsOf(order)
    for (const event of events) this.#events.push({ ...event, ...columns })
  }

  /** Call it if an order gets another content. Then `writeContents` copies the present one to the events that show it. */
  keepContent(orderId: string): void {
    this.#keptOrders.add(orderId)
  }

  /** Sends the copies of contents. Call it before the orders are written. */
  writeContents({ query }: Queries): void {
    if (this.#keptOrders.size === 0) return
    void query(
      `UPDATE event e SET content = o.content FROM purchase_order o
        WHERE o.id = ANY($1::uuid[]) AND e.subject = ANY($1::text[]) AND e.subject = o.id::text AND e.status IS NOT NULL AND e.content IS NULL`,
      [[...this.#keptOrders]]
    )
  }

  /**
   * Sends the new rows without waiting for the answer. Nothing may be sent after them but the COMMIT, because every other
   * transaction that writes events waits from here until that commit.
   */
  write({ query }: Queries): void {
    const events = this.#events
    if (events.length === 0) return
    void query(
      `WITH head AS (UPDATE event_head SET last = last + $1 RETURNING last - $1 AS before)
        INSERT INTO event (position, id, type, at, subject, version, customer, weight, status, content)
        SELECT head.before + n.number, n.id, n.type, n.at, n.subject, n.version, n.customer, n.weight, n.status, n.content
        FROM head, unnest($2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::json[])
          WITH ORDINALITY AS n (id, type, at, subject, version, customer, weight, status, content, number)`,
      [
        events.length,
        events.map(({ at }) => newEventId(at)),
        events.map(({ type }) => type),
        events.map(({ at }) => at),
        events.map(({ subject }) => subject),
        events.map(({ version }) => version),
        events.map(({ customer }) => customer ?? null),
        events.map(({ weight }) => weight),
        events.map(({ status }) => status),
        events.map(({ content }) => content)
      ]
    )
  }
}
