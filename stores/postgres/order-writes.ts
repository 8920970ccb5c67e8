import { mostInline } from '../../domain/deferred.ts'
import { LargeRead } from '../../domain/errors.ts'
import { namedProducts, type Order, type ProductReference } from '../../domain/order.ts'
import type { Placed, Shipped } from '../../domain/store.ts'
import { attempt, type Settled, withoutResult } from '../batcher.ts'
import { commandSize, mostNamed } from '../commands.ts'
import { Division } from '../division.ts'
import type { Postponed } from '../outcomes.ts'
import { requiredRow } from '../required-row.ts'
import { type LaneName, storedSize } from '../sizes.ts'
import type { Database, Queries } from './database.ts'
import { EventLog } from './event-log.ts'
import { ProductsLocked } from './failures.ts'
import { NamedOrders } from './named-orders.ts'
import type { OrderBatch } from './order-batch.ts'
import { LockedOrders } from './order-changes.ts'
import { isChange, type OrderCommand } from './order-commands.ts'
import { SentDocuments, writeDocuments } from './order-documents.ts'
import { NewOrders } from './placing.ts'
import { retrying } from './retrying.ts'
import { now } from './rows.ts'
import { type Locking, lockStock, waitForTurn } from './stock-ledger.ts'

type Outcome = Settled<Placed | Order | Shipped> | Postponed

/** The thread that decides a batch. Only the order thread may take long. */
export type DecidingThread = 'serving' | 'order'

/** The most bytes that a thread reads of what a command names. A command that needs more fails with LargeRead. */
const mostRead: Readonly<Record<DecidingThread, number>> = { serving: mostInline, order: Number.POSITIVE_INFINITY }

/** Writes a batch. @param locking what it does about products that another transaction has locked; by default it waits */
export type OrderWrites = (commands: readonly OrderCommand[], lane: LaneName, locking?: Locking) => Promise<readonly Outcome[]>

/**
 * Writes a batch of new orders and changes in one transaction. It locks the orders that change and the stock of all orders,
 * decides each command in the order of arrival, and writes all results at once. That takes two round trips, one more when
 * there are changes, one more when an availability changes, and one more when stored orders are read whose sizes had to be known
 * first. Some commands may be postponed (see Division), before their orders are read.
 *
 * The locks of the products also serialise two orders with the same key or order number on any replica: the second waits for
 * the products and then finds the first. If the two have no product in common, a unique index refuses the second batch, which
 * is then retried.
 *
 * With the locking `skip`, a command whose products another transaction has locked fails with ProductsLocked.
 */
export function makeOrderWrites(database: Database, currency: string, thread: DecidingThread): OrderWrites {
  const run = (batch: readonly OrderCommand[], lane: LaneName, locking: Locking) =>
    database.transaction(async (queries) => {
      const locked = await LockedOrders.lock(queries, batch.filter(isChange), lane)
      const lockedSize = (command: OrderCommand) => (isChange(command) ? locked.sizeOf(command.args[0]) : 0)
      const [readable, later] = divide(batch, lane, lockedSize)
      await locked.readContents(queries, readable.filter(isChange))
      const placings = readable.flatMap((command) => (command.verb === 'placeOrder' ? command.args : []))
      const products = readable.map((command): readonly ProductReference[] =>
        isChange(command) ? locked.productsOf(command) : namedProducts(command.args[0].order)
      )
      for (const named of products) await waitForTurn(queries, named)
      const [inventory, named, sent, at] = await Promise.all([
        lockStock(queries, products.flat(), locking),
        NamedOrders.read(queries, readable, locked),
        SentDocuments.read(queries, placings),
        clock(queries)
      ])
      const refused = new Map<OrderCommand, Error>()
      for (const [i, command] of readable.entries()) {
        const size = named.sizeOf(command)
        if (size > Math.min(mostRead[thread], mostNamed(command))) refused.set(command, new LargeRead(size))
        else if (inventory.isLockedElsewhere(products[i] ?? [])) refused.set(command, new ProductsLocked())
      }
      const [commands, postponed] = divide(
        readable,
        lane,
        (command) => lockedSize(command) + (refused.has(command) ? 0 : named.sizeOf(command))
      )
      await named.readContents(
        queries,
        commands.filter((command) => !refused.has(command))
      )
      const { keys, numbers } = named
      const current: OrderBatch = {
        currency,
        now: at,
        inventory,
        keys,
        numbers,
        events: new EventLog(),
        sent,
        activeOrderNumbered: (customer, orderNumber) => numbers.find(customer, orderNumber),
        activeIdNumbered: (customer, orderNumber) => numbers.idOf(customer, orderNumber),
        orderOfDocument(customer, digest) {
          const order = sent.find(customer, digest)
          return order && (locked.find(order.id) ?? order)
        }
      }
      const placed = new NewOrders()
      const eventsSoFar = () => current.events.size + inventory.events
      // By the command, which is another object for each item of a batch.
      const outcomes = new Map<OrderCommand, Outcome>([...later, ...postponed])
      for (const command of commands) {
        const before = eventsSoFar()
        const settled = attempt(() => {
          const error = refused.get(command)
          if (error) throw error
          return command.verb === 'placeOrder' ? placed.place(command.args[0], current) : locked.change(command, current)
        })
        outcomes.set(command, { ...settled, events: eventsSoFar() - before })
      }
      await inventory.write(queries, current.events)
      current.events.writeContents(queries)
      // Changes are written before new orders, which may take a number that a change has freed.
      locked.write(queries)
      placed.write(queries)
      writeDocuments(queries, [...locked.documents, ...placed.documents])
      keys.write(queries, at)
      current.events.write(queries)
      return batch.map((command) => outcomes.get(command) ?? withoutResult())
    })
  return (commands, lane, locking = 'wait') => retrying(() => run(commands, lane, locking))
}

/**
 * Divides a batch into the commands that the transaction does and those that are postponed.
 * @param sizeOf bytes of the stored orders that a command reads
 */
function divide(
  batch: readonly OrderCommand[],
  lane: LaneName,
  sizeOf: (command: OrderCommand) => number
): readonly [commands: readonly OrderCommand[], postponed: ReadonlyMap<OrderCommand, Postponed>] {
  const division = new Division(lane)
  const commands: OrderCommand[] = []
  const postponed = new Map<OrderCommand, Postponed>()
  for (const command of batch) {
    const existing = storedSize(sizeOf(command))
    if (division.takes({ sent: commandSize(command), existing })) commands.push(command)
    else postponed.set(command, { postponed: existing })
  }
  return [commands, postponed]
}

async function clock({ query }: Queries): Promise<number> {
  const [row] = await query<{ now: number }>(`SELECT ${now} AS now`)
  return requiredRow(row).now
}
