import { orderNotFound } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/event.ts'
import { replayed } from '../../domain/idempotency.ts'
import { isActive, type Order, type ProductReference } from '../../domain/order.ts'
import { decideChange, decideStatus, productsOfChange, productsOfStatus } from '../../domain/order-writes.ts'
import { decideShipment, type Shipment } from '../../domain/shipping.ts'
import type { Shipped } from '../../domain/store.ts'
import type { Command } from '../commands.ts'
import { orderContent, type SizedOrderRow, type SummaryColumns, summaryOf } from '../rows.ts'
import { type LaneName, mostStored, mostStoredOfSmall } from '../sizes.ts'
import type { Queries } from './database.ts'
import type { OrderBatch } from './order-batch.ts'
import type { ChangeCommand } from './order-commands.ts'
import { readContents, sizedOrderColumns } from './order-contents.ts'
import type { WrittenDocument } from './order-documents.ts'
import { isUuid, type OrderRow, toOrder } from './rows.ts'
import { writeShipments } from './shipments.ts'

/** A locked row, with its change when that is decided. */
interface LockedOrder extends SizedOrderRow, OrderRow {
  readonly isChanged?: boolean
  /** Present when the content has changed too. */
  readonly summary?: SummaryColumns
}

interface Changed {
  readonly row: LockedOrder
  readonly events: readonly NewEvent[]
}

/**
 * The orders that a transaction changes: locked, changed in memory and written back at its end. A batch has one change of an order at most
 * (BatchQueue).
 */
export class LockedOrders {
  readonly #rows = new Map<string, LockedOrder>()
  /** The orders whose contents are not read yet. */
  readonly #unread = new Map<string, SizedOrderRow>()
  /** The documents of the changes. */
  readonly documents: WrittenDocument[] = []
  readonly #shipments: Shipment[] = []
  /** By order: the number that its change gave up. Until the rows are written, the database still has it. */
  readonly #givenUp = new Map<string, string>()

  /**
   * Locks orders in the order of their ids, so that batches never deadlock. It reads the contents of those that are so small that
   * all of them together fit into a batch, and that are not postponed (see Division).
   */
  static async lock({ query }: Queries, commands: readonly ChangeCommand[], lane: LaneName): Promise<LockedOrders> {
    const orders = new LockedOrders()
    const ids = commands.map(({ args: [id] }) => id).filter(isUuid)
    if (ids.length === 0) return orders
    const sql = `SELECT ${sizedOrderColumns}, CASE WHEN o.content_size <= $2 THEN o.content END AS content
      FROM purchase_order o WHERE o.id = ANY($1::uuid[]) ORDER BY o.id FOR UPDATE`
    const share = Math.min(Math.floor(mostStored / ids.length), lane === 'small' ? mostStoredOfSmall : mostStored)
    for (const { content, ...row } of await query<SizedOrderRow & { readonly content: string | null }>(sql, [ids, share])) {
      if (content === null) orders.#unread.set(row.id, row)
      else orders.#rows.set(row.id, { ...row, content })
    }
    return orders
  }

  /** Reads the contents of the orders that commands change, where that is not done yet. */
  async readContents(queries: Queries, commands: readonly ChangeCommand[]): Promise<void> {
    const unread = commands.flatMap(({ args: [id] }) => this.#unread.get(id) ?? [])
    for (const row of await readContents(queries, unread)) this.#rows.set(row.id, row)
  }

  find(id: string): Order | undefined {
    const row = this.#rows.get(id)
    return row && toOrder(row)
  }

  /** Bytes of an order's content. */
  sizeOf(id: string): number {
    return (this.#rows.get(id) ?? this.#unread.get(id))?.content_size ?? 0
  }

  customerOf(id: string): string | undefined {
    return this.#rows.get(id)?.customer ?? undefined
  }

  /** The products whose stock a command may change. */
  productsOf(command: ChangeCommand): readonly ProductReference[] {
    const before = this.find(command.args[0])
    if (!before || command.verb === 'shipOrder') return []
    if (command.verb === 'changeOrder') return productsOfChange(before, command.args[1])
    return productsOfStatus(before, command.args[1])
  }

  /** @throws DomainError of the verb */
  change(command: ChangeCommand, batch: OrderBatch): Order | Shipped {
    const [id] = command.args
    const row = this.#rows.get(id)
    if (!row) throw orderNotFound()
    if (command.verb === 'shipOrder') return this.#ship(row, command, batch)
    const before = toOrder(row)
    const { row: after, events } =
      command.verb === 'changeOrder' ? withContent(row, before, command, batch) : this.#withStatus(row, before, command, batch)
    if (after === row) return before
    const order = toOrder(after)
    const { document, mode } = (command.verb === 'changeOrder' ? command.args[3] : undefined) ?? {}
    if (mode === 'dry-run') return order
    this.#rows.set(id, after)
    if (after.content !== row.content) batch.events.keepContent(id)
    batch.events.add(events, after)
    if (document) {
      this.documents.push({ orderId: id, ...document })
      batch.sent.add(order, document)
    }
    batch.numbers.remove(before)
    if (isActive(order.status)) batch.numbers.add(order)
    const { orderNumber } = before
    const isGivenUp = orderNumber !== undefined && !(isActive(order.status) && order.orderNumber === orderNumber)
    if (isGivenUp) this.#givenUp.set(id, orderNumber)
    return order
  }

  #ship(row: LockedOrder, { args }: Command<'shipOrder'>, batch: OrderBatch): Shipped {
    const [id, draft, expected, { idempotency } = {}] = args
    const earlier = idempotency && replayed('shipment', idempotency, batch.keys.find(idempotency))
    if (earlier) return earlier
    const before = toOrder(row)
    const { order, shipment, events } = decideShipment(before, draft, expected, batch)
    const after = rewritten(row, order)
    this.#rows.set(id, after)
    batch.events.keepContent(id)
    batch.events.add(events, after)
    this.#shipments.push(shipment)
    batch.numbers.add(toOrder(after))
    if (idempotency) batch.keys.keep(idempotency, { shipment })
    return { shipment, replayed: false }
  }

  #withStatus(row: LockedOrder, before: Order, { args }: Command<'setOrderStatus'>, batch: OrderBatch): Changed {
    const [, status, expected, options] = args
    const decided = decideStatus(before, status, expected, batch, options?.details)
    if (!decided) return { row, events: [] }
    const { change, rewritten: order, shipment, taken, events } = decided
    batch.inventory.take(taken, batch.now)
    if (shipment) this.#shipments.push(shipment)
    if (order) return { row: rewritten(row, order), events }
    const { status: after, version, modifiedAt } = change
    return { row: { ...row, status: after, version, modified_at: modifiedAt, isChanged: true }, events }
  }

  /** Sends the changed rows without waiting for the answer. */
  write(queries: Queries): void {
    const rows = [...this.#rows.values()].filter(({ isChanged }) => isChanged)
    const rewritten = rows.flatMap(({ summary, ...row }) => (summary ? { ...row, ...summary } : []))
    // A status can free a number, and takes none. So statuses are written before contents, which may take it.
    writeStatuses(
      queries,
      rows.filter(({ summary }) => !summary)
    )
    const taken = new Set(rewritten.filter(({ status }) => isActive(status)).map(({ order_number }) => order_number))
    taken.delete(null)
    const givers = rewritten.filter(({ id }) => taken.has(this.#givenUp.get(id) ?? null))
    freeNumbers(
      queries,
      givers.map(({ id }) => id)
    )
    writeContents(queries, rewritten)
    writeShipments(queries, this.#shipments)
  }
}

function withContent(row: LockedOrder, before: Order, { args }: Command<'changeOrder'>, batch: OrderBatch): Changed {
  const [, document, expected, options = {}] = args
  const { order, taken, events } = decideChange(before, document, expected, batch, options)
  if (options.mode !== 'dry-run') batch.inventory.take(taken, batch.now)
  return { row: rewritten(row, order), events }
}

/** A row with a new state of its order. */
function rewritten(row: LockedOrder, order: Order): LockedOrder {
  const { version, status, modifiedAt, orderNumber } = order
  const columns = { version, status, modified_at: modifiedAt, order_number: orderNumber ?? null }
  return { ...row, ...columns, isChanged: true, content: orderContent(order), summary: summaryOf(order) }
}

function writeStatuses({ query }: Queries, rows: readonly LockedOrder[]): void {
  if (rows.length === 0) return
  void query(
    `UPDATE purchase_order o SET version = n.version, status = n.status, modified_at = n.modified_at
      FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[]) AS n (id, version, status, modified_at) WHERE o.id = n.id`,
    [rows.map(({ id }) => id), rows.map(({ version }) => version), rows.map(({ status }) => status), rows.map((row) => row.modified_at)]
  )
}

/**
 * Frees the numbers of orders whose contents are written next. PostgreSQL checks a unique index at each row, so one UPDATE could give a
 * number to an order before it takes it from the other.
 */
function freeNumbers({ query }: Queries, ids: readonly string[]): void {
  if (ids.length > 0) void query('UPDATE purchase_order SET order_number = NULL WHERE id = ANY($1::uuid[])', [ids])
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
