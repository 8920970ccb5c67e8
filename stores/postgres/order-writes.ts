import { textOf } from '../../domain/deferred.ts'
import { namedProducts, type Order, type ProductReference } from '../../domain/order.ts'
import type { Idempotency, Placed, Shipped } from '../../domain/store.ts'
import { attempt, type Settled } from '../batcher.ts'
import type { Command } from '../crossing.ts'
import type { Postponed } from '../outcomes.ts'
import { batchWeight } from '../sizes.ts'
import { ActiveOrderNumbers } from './active-order-numbers.ts'
import type { Database, Queries } from './database.ts'
import { EventLog } from './event-log.ts'
import { IdempotencyKeys } from './idempotency.ts'
import type { OrderBatch } from './order-batch.ts'
import { type ChangeCommand, LockedOrders } from './order-changes.ts'
import { SentDocuments, writeDocuments } from './order-documents.ts'
import { NewOrders } from './placing.ts'
import { retrying } from './retrying.ts'
import { now } from './rows.ts'
import { lockStock } from './stock-ledger.ts'

export type OrderCommand = Command<'placeOrder'> | ChangeCommand

/** The thread that decides a batch. Only the order thread may take long. */
export type DecidingThread = 'serving' | 'order'

/** A new order has the number of a large order. The serving thread must not compare them, because that takes too long. */
export class LargeOrderComparison extends Error {
  override readonly name = 'LargeOrderComparison'
}

/**
 * Writes a batch of new orders and changes in one transaction. It locks the orders that change and the stock of all orders,
 * decides each command in the order of arrival, and writes all results at once. That takes two round trips, one more when
 * there are changes, and one more when an availability changes. When the orders that change are enough for one transaction, the
 * rest of the batch is postponed.
 *
 * The locks of the products also serialise two orders with the same key or order number on any replica: the second waits for
 * the products and then finds the first. If the two have no product in common, a unique index refuses the second batch, which
 * is then retried.
 */
export function makeOrderWrites(
  database: Database,
  currency: string,
  thread: DecidingThread
): (commands: readonly OrderCommand[]) => Promise<readonly (Settled<Placed | Order | Shipped> | Postponed)[]> {
  const run = (batch: readonly OrderCommand[]) =>
    database.transaction(async (queries) => {
      const locked = await LockedOrders.lock(queries, batch.filter(isChange))
      const { commands, postponed } = divide(batch, locked)
      const placings = commands.flatMap((command) => (command.verb === 'placeOrder' ? command.args : []))
      const changes = commands.filter(isChange)
      const products = commands.flatMap((command): readonly ProductReference[] =>
        command.verb === 'placeOrder' ? namedProducts(command.args[0].order) : locked.productsOf(command)
      )
      const numbered = changes.flatMap((command) => {
        const before = locked.find(command.args[0])
        if (command.verb !== 'changeOrder' || before?.customer === undefined) return []
        return { customer: before.customer, order: command.args[1] }
      })
      const used = commands.flatMap((command) => idempotencyOf(command) ?? [])
      const [inventory, keys, numbers, sent, at] = await Promise.all([
        lockStock(queries, products),
        IdempotencyKeys.read(queries, used),
        ActiveOrderNumbers.read(queries, [...placings, ...numbered]),
        SentDocuments.read(queries, placings),
        clock(queries)
      ])
      const current: OrderBatch = {
        currency,
        now: at,
        inventory,
        keys,
        numbers,
        events: new EventLog(),
        sent,
        activeOrderNumbered(customer, orderNumber) {
          const order = numbers.find(customer, orderNumber)
          if (thread === 'serving' && textOf(order) !== undefined) throw new LargeOrderComparison()
          return order
        },
        orderOfDocument(customer, digest) {
          const order = sent.find(customer, digest)
          return order && (locked.find(order.id) ?? order)
        }
      }
      const placed = new NewOrders()
      const outcomes = commands.map((command) =>
        attempt(() => (command.verb === 'placeOrder' ? placed.place(command.args[0], current) : locked.change(command, current)))
      )
      await inventory.write(queries, current.events)
      current.events.writeContents(queries)
      // Changes are written before new orders, which may take a number that a change has freed.
      locked.write(queries)
      placed.write(queries)
      writeDocuments(queries, [...locked.documents, ...placed.documents])
      keys.write(queries, at)
      current.events.write(queries)
      return [...outcomes, ...postponed]
    })
  return (commands) => retrying(() => run(commands))
}

function isChange(command: OrderCommand): command is ChangeCommand {
  return command.verb !== 'placeOrder'
}

/** Divides a batch where the orders that it changes are enough for one transaction. */
function divide(
  batch: readonly OrderCommand[],
  locked: LockedOrders
): { readonly commands: readonly OrderCommand[]; readonly postponed: readonly Postponed[] } {
  const sizes = batch.map((command) => (isChange(command) ? locked.sizeOf(command.args[0]) : 0))
  let count = 0
  for (let weight = 0; count < sizes.length && weight < batchWeight; count++) weight += sizes[count] ?? 0
  return { commands: batch.slice(0, count), postponed: sizes.slice(count).map((postponed) => ({ postponed })) }
}

function idempotencyOf(command: OrderCommand): Idempotency | undefined {
  if (command.verb === 'placeOrder') return command.args[0].idempotency
  return command.verb === 'shipOrder' ? command.args[3] : undefined
}

async function clock({ query }: Queries): Promise<number> {
  const [row] = await query<{ now: number }>(`SELECT ${now} AS now`)
  if (!row) throw new Error('the database did not return its time')
  return row.now
}
