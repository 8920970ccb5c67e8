import type { Idempotency } from '../../domain/store.ts'
import { changedOrder } from '../crossing.ts'
import { inactiveStatuses } from '../rows.ts'
import { storedSize } from '../sizes.ts'
import type { Connection } from './connection.ts'
import type { WriteCommand } from './write-verbs.ts'

/**
 * Makes a function that returns the weight of what is stored and a command reads: the order that it changes, the active order that has
 * its number, and the answer that its Idempotency-Key already has. SQLite knows the length of a text without reading the text.
 */
export function makeExistingSizes(db: Connection): (command: WriteCommand) => number {
  const orderLength = db.prepare<[string], number>('SELECT octet_length(content) FROM purchase_order WHERE id = ?').pluck()
  const numberedLength = db
    .prepare<[string, string], number>(
      `SELECT octet_length(content) FROM purchase_order
        WHERE customer = ? AND order_number = ? AND status NOT IN (${inactiveStatuses})`
    )
    .pluck()
  const otherLength = db
    .prepare<[{ readonly id: string; readonly number: string }], number>(
      `SELECT octet_length(content) FROM purchase_order
        WHERE customer = (SELECT customer FROM purchase_order WHERE id = @id) AND order_number = @number
          AND status NOT IN (${inactiveStatuses}) AND id <> @id`
    )
    .pluck()
  const answerLength = db
    .prepare<[string, string], number>('SELECT octet_length(snapshot) FROM idempotency WHERE scope = ? AND key = ?')
    .pluck()

  function numbered(command: WriteCommand): number | undefined {
    if (command.verb === 'placeOrder') {
      const [{ customer, order }] = command.args as WriteCommand<'placeOrder'>['args']
      return customer === undefined || order.orderNumber === undefined ? 0 : numberedLength.get(customer, order.orderNumber)
    }
    if (command.verb !== 'changeOrder') return 0
    const [id, { orderNumber: number }] = command.args as WriteCommand<'changeOrder'>['args']
    return number === undefined ? 0 : otherLength.get({ id, number })
  }

  function answered(command: WriteCommand): number | undefined {
    const key = idempotencyOf(command)
    return key && answerLength.get(key.scope, key.key)
  }

  return (command) => {
    const id = changedOrder(command)
    const order = id === undefined ? 0 : orderLength.get(id)
    return storedSize((order ?? 0) + (numbered(command) ?? 0) + (answered(command) ?? 0))
  }
}

function idempotencyOf({ verb, args }: WriteCommand): Idempotency | undefined {
  if (verb === 'placeOrder') return (args as WriteCommand<'placeOrder'>['args'])[0].idempotency
  return verb === 'shipOrder' ? (args as WriteCommand<'shipOrder'>['args'])[3]?.idempotency : undefined
}
