import type { Order } from '../../domain/order.ts'
import type { Placed } from '../../domain/store.ts'
import type { Command } from '../crossing.ts'
import { type Outcome, retrying } from './batcher.ts'
import type { Database } from './database.ts'
import { makeOrderChanges } from './order-changes.ts'
import { makePlacing } from './placing.ts'

export type OrderCommand = Command<'placeOrder'> | Command<'changeOrder'> | Command<'setOrderStatus'>

/**
 * Writes orders in one transaction: any number that are placed, or one change of an order that stands. The outcomes are in
 * the commands' order.
 */
export function makeOrderWrites(
  database: Database,
  currency: string
): (commands: readonly OrderCommand[]) => Promise<readonly Outcome<Placed | Order>[]> {
  const place = makePlacing(database, currency)
  const changes = makeOrderChanges(database, currency)

  return async (commands) => {
    const [first] = commands
    if (first?.verb === 'changeOrder') return [{ value: await changes.changeOrder(...first.args) }]
    if (first?.verb === 'setOrderStatus') return [{ value: await changes.setOrderStatus(...first.args) }]
    const placings = commands.flatMap((command) => (command.verb === 'placeOrder' ? command.args : []))
    return retrying(() => place(placings))
  }
}
