import type { Idempotency } from '../../domain/store.ts'
import { changedOrder, idempotencyOf } from '../commands.ts'
import { inactiveStatuses } from '../rows.ts'
import type { Connection } from './connection.ts'
import type { WriteCommand } from './write-verbs.ts'

/** The sizes of the stored texts that a command reads. SQLite knows the length of a text without reading the text. */
export interface ExistingSizes {
  /** The bytes of the order that a command changes. */
  changed(command: WriteCommand): number
  /** The bytes of the answer that it repeats, if its Idempotency-Key was used before, or else of the active order that has its number. */
  named(command: WriteCommand): number
}

export function makeExistingSizes(db: Connection): ExistingSizes {
  const orderLength = db.prepare<[string], number>('SELECT octet_length(content) FROM purchase_order WHERE id = ?').pluck()
  const numberedLength = db
    .prepare<[string, string], number>(
      `SELECT octet_length(content) FROM purchase_order
        WHERE customer = ? AND order_number = ? AND status NOT IN (${inactiveStatuses})`
    )
    .pluck()
  const answerLength = db
    .prepare<[Idempotency], number>(
      'SELECT CASE WHEN fingerprint = @fingerprint THEN octet_length(snapshot) ELSE 0 END FROM idempotency WHERE scope = @scope AND key = @key'
    )
    .pluck()

  function numbered({ verb, args }: WriteCommand): number {
    if (verb !== 'placeOrder') return 0
    const [{ customer, order }] = args
    return customer === undefined || order.orderNumber === undefined ? 0 : (numberedLength.get(customer, order.orderNumber) ?? 0)
  }

  return {
    changed(command) {
      const id = changedOrder(command)
      return id === undefined ? 0 : (orderLength.get(id) ?? 0)
    },
    named(command) {
      const key = idempotencyOf(command)
      return (key && answerLength.get(key)) ?? numbered(command)
    }
  }
}
