import type { NewEvent } from '../../domain/event.ts'
import { newEventId } from '../event-ids.ts'
import { type EventOrder, orderColumnsOf } from '../event-rows.ts'
import type { Connection } from './connection.ts'

/** Writes the outbox, in the transaction of the change that an event is about. */
export interface EventLog {
  /** The number of events that were written so far. */
  readonly written: number
  /** @param order the order with its present content, if the events are of an order */
  write(events: readonly NewEvent[], order?: EventOrder): void
  /** Copies the content of an order to the events that show it. Call it before the order gets another content. */
  keepContent(orderId: string): void
}

export function makeEventLog(db: Connection): EventLog {
  const insert = db.prepare<[string, string, number, string, number, string | null, number, string | null, string | null]>(
    'INSERT INTO event (id, type, at, subject, version, customer, weight, status, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'
  )
  const keep = db.prepare<[{ readonly id: string }]>(
    `UPDATE event SET content = (SELECT content FROM purchase_order WHERE id = @id)
      WHERE subject = @id AND status IS NOT NULL AND content IS NULL`
  )
  let written = 0
  return {
    get written() {
      return written
    },
    write(events, order) {
      written += events.length
      const { weight, status, content } = orderColumnsOf(order)
      for (const { type, at, subject, version, customer } of events)
        insert.run(newEventId(at), type, at, subject, version, customer ?? null, weight, status, content)
    },
    keepContent(id) {
      keep.run({ id })
    }
  }
}
