import { orderNotFound } from '../../domain/errors.ts'
import { orderEvents } from '../../domain/event.ts'
import { holdsStock, namedProducts, type Order, type ProductReference } from '../../domain/order.ts'
import { decideChange, decideStatus } from '../../domain/order-writes.ts'
import type { Command } from '../crossing.ts'
import { orderContent, type SummaryColumns, summaryOf } from '../rows.ts'
import type { Queries } from './database.ts'
import type { WrittenDocument } from './order-documents.ts'
import type { OrderBatch } from './order-writes.ts'
import { isOrderId, type OrderRow, orderColumns, toOrder } from './rows.ts'

export type ChangeCommand = Command<'changeOrder'> | Command<'setOrderStatus'>

/** A locked row, with the changes so far. */
interface LockedOrder extends OrderRow {
  readonly isChanged?: boolean
  /** Present when the content has changed too. */
  readonly summary?: SummaryColumns
}

/** The orders that a transaction changes: locked, changed in memory and written back at its end. */
export class LockedOrders {
  readonly #rows = new Map<string, LockedOrder>()
  /** The documents of the changes. */
  readonly documents: WrittenDocument[] = []

  /** Locks orders in the order of their ids, so that batches never deadlock. */
  static async lock({ query }: Queries, commands: readonly ChangeCommand[]): Promise<LockedOrders> {
    const orders = new LockedOrders()
    const ids = new Set(commands.map(({ args: [id] }) => id).filter(isOrderId))
    if (ids.size === 0) return orders
    const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.id = ANY($1::uuid[]) ORDER BY o.id FOR UPDATE`
    for (const row of await query<OrderRow>(sql, [[...ids]])) orders.#rows.set(row.id, row)
    return orders
  }

  find(id: string): Order | undefined {
    const row = this.#rows.get(id)
    return row && toOrder(row)
  }

  /** The products whose stock a command may change. */
  productsOf(command: ChangeCommand): ProductReference[] {
    const before = this.find(command.args[0])
    if (!before) return []
    const held = () => before.items.map(({ productId }) => ({ productId }))
    if (command.verb === 'changeOrder') return [...namedProducts(command.args[1]), ...held()]
    return holdsStock(before.status) && !holdsStock(command.args[1]) ? held() : []
  }

  /** @throws DomainError of the verb */
  change(command: ChangeCommand, batch: OrderBatch): Order {
    const [id] = command.args
    const row = this.#rows.get(id)
    if (!row) throw orderNotFound()
    const before = toOrder(row)
    const after = command.verb === 'changeOrder' ? withContent(row, before, command, batch) : withStatus(row, before, command, batch)
    if (after === row) return before
    const order = toOrder(after)
    const { document, mode } = (command.verb === 'changeOrder' ? command.args[4] : undefined) ?? {}
    if (mode === 'rehearse') return order
    this.#rows.set(id, after)
    if (after.content !== row.content) batch.events.keepContent(id, row.content)
    batch.events.add(orderEvents(command.verb === 'changeOrder' ? 'changed' : 'set', before, order), after)
    if (document) {
      this.documents.push({ orderId: id, ...document })
      batch.sent.add(order, document)
    }
    batch.numbers.remove(before)
    if (holdsStock(order.status)) batch.numbers.add(order)
    return order
  }

  /** Sends the changed rows without waiting for the answer. */
  write(queries: Queries): void {
    const rows = [...this.#rows.values()].filter(({ isChanged }) => isChanged)
    const rewritten = rows.flatMap(({ summary, ...row }) => (summary ? { ...row, ...summary } : []))
    writeStatuses(
      queries,
      rows.filter(({ summary }) => !summary)
    )
    writeContents(queries, rewritten)
  }
}

function withContent(row: LockedOrder, before: Order, { args }: Command<'changeOrder'>, batch: OrderBatch): LockedOrder {
  const [, document, expected, mostItems, options] = args
  const { order, taken } = decideChange(before, document, expected, mostItems, batch, options?.objections)
  if (options?.mode !== 'rehearse') batch.inventory.take(taken)
  const columns = { version: order.version, modified_at: order.modifiedAt, order_number: order.orderNumber ?? null }
  return { ...row, ...columns, isChanged: true, content: orderContent(order), summary: summaryOf(order) }
}

function withStatus(row: LockedOrder, before: Order, { args }: Command<'setOrderStatus'>, batch: OrderBatch): LockedOrder {
  const [, status, expected] = args
  const decided = decideStatus(before, status, expected, batch)
  if (!decided) return row
  batch.inventory.take(decided.taken)
  const { version, modifiedAt } = decided.change
  return { ...row, status, version, modified_at: modifiedAt, isChanged: true }
}

function writeStatuses({ query }: Queries, rows: readonly LockedOrder[]): void {
  if (rows.length === 0) return
  void query(
    `UPDATE purchase_order o SET version = n.version, status = n.status, modified_at = n.modified_at
      FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[]) AS n (id, version, status, modified_at) WHERE o.id = n.id`,
    [rows.map(({ id }) => id), rows.map(({ version }) => version), rows.map(({ status }) => status), rows.map((row) => row.modified_at)]
  )
}

function writeContents({ query }: Queries, rows: readonly (LockedOrder & SummaryColumns)[]): void {
  if (rows.length === 0) return
  void query(
    `UPDATE purchase_order o SET version = n.version, status = n.status, modified_at = n.modified_at, order_number = n.order_number,
        content = n.content, item_count = n.item_count, currency = n.currency, total = n.total, buyer_name = n.buyer_name, lines = n.lines
      FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::json[],
          $7::integer[], $8::text[], $9::text[], $10::text[], $11::json[])
        AS n (id, version, status, modified_at, order_number, content, item_count, currency, total, buyer_name, lines)
      WHERE o.id = n.id`,
    [
      rows.map(({ id }) => id),
      rows.map(({ version }) => version),
      rows.map(({ status }) => status),
      rows.map(({ modified_at }) => modified_at),
      rows.map(({ order_number }) => order_number),
      rows.map(({ content }) => content),
      rows.map(({ item_count }) => item_count),
      rows.map(({ currency }) => currency),
      rows.map(({ total }) => total),
      rows.map(({ buyer_name }) => buyer_name),
      rows.map(({ lines }) => lines)
    ]
  )
}
