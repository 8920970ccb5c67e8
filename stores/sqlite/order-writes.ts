import { randomUUID } from 'node:crypto'
import { orderNotFound } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/event.ts'
import { replayed } from '../../domain/idempotency.ts'
import type { Order } from '../../domain/order.ts'
import { decideChange, decidePlacing, decideStatus, type Shop } from '../../domain/order-writes.ts'
import { decideShipment } from '../../domain/shipping.ts'
import type { Placing } from '../../domain/store.ts'
import { deferredOrder, inactiveStatuses, orderContent, type SummaryColumns, summaryOf } from '../rows.ts'
import type { Connection } from './connection.ts'
import type { EventLog } from './event-log.ts'
import { makeIdempotencyRows } from './idempotency-rows.ts'
import { makeOrderDocuments } from './order-documents.ts'
import { type OrderRow, orderColumns, toOrder } from './rows.ts'
import { makeShipmentWriter } from './shipments.ts'
import { makeStockLedgers, type StockLedger } from './stock-ledger.ts'
import type { Writes } from './write-verbs.ts'

type OrderVerb = 'placeOrder' | 'changeOrder' | 'setOrderStatus' | 'shipOrder'
type OrderColumns = Omit<OrderRow, 'seq'>

const summaryColumns = 'item_count, currency, total, buyer_name, lines'
const columns = 'version, customer, order_number, status, placed_at, modified_at, content'

export function makeOrderWrites(db: Connection, currency: string, events: EventLog): Writes<OrderVerb> {
  const stockLedger = makeStockLedgers(db, events)
  const keys = makeIdempotencyRows(db)
  const findRow = db.prepare<[string], OrderRow>(`SELECT ${orderColumns} FROM purchase_order o WHERE id = ?`)
  const findNumber = db.prepare<[string, string], OrderRow>(
    `SELECT ${orderColumns} FROM purchase_order o WHERE customer = ? AND order_number = ? AND status NOT IN (${inactiveStatuses})`
  )
  const findNumberId = db
    .prepare<[string, string], string>(
      `SELECT id FROM purchase_order WHERE customer = ? AND order_number = ? AND status NOT IN (${inactiveStatuses})`
    )
    .pluck()
  const values = columns.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare<[OrderColumns]>(`INSERT INTO purchase_order (id, ${columns}) VALUES (@id, ${values})`)
  const update = db.prepare<[OrderColumns]>(`UPDATE purchase_order SET (${columns}) = (${values}) WHERE id = @id`)

  const insertSummary = db.prepare<[{ readonly seq: number | bigint } & SummaryColumns]>(
    `INSERT INTO order_summary (seq, ${summaryColumns}) VALUES (@seq, ${summaryColumns.replaceAll(/\w+/g, '@$&')})`
  )
  const updateSummary = db.prepare<[Pick<OrderColumns, 'id'> & SummaryColumns]>(
    `UPDATE order_summary SET (${summaryColumns}) = (${summaryColumns.replaceAll(/\w+/g, '@$&')})
      WHERE seq = (SELECT seq FROM purchase_order WHERE id = @id)`
  )

  const documents = makeOrderDocuments(db)
  const writeShipment = makeShipmentWriter(db)

  /**
   * Writes a new order. Returns it deferred, as the JSON that was stored, so that it is not serialised again for its key and for the
   * serving thread.
   */
  function write(order: Order, made: readonly NewEvent[], document: Placing['document']): Order {
    const columns = toColumns(order)
    const { lastInsertRowid: seq } = insert.run(columns)
    insertSummary.run({ seq, ...summaryOf(order) })
    if (document) documents.write(order.id, document)
    events.write(made, columns)
    return deferredOrder({ ...columns, seq: Number(seq) }, columns.content)
  }

  /** Writes an order whose content has changed. */
  function rewrite(order: Order): OrderColumns {
    const { id } = order
    const columns = toColumns(order)
    events.keepContent(id)
    update.run(columns)
    updateSummary.run({ id, ...summaryOf(order) })
    return columns
  }

  function find(id: string): Order {
    const row = findRow.get(id)
    if (!row) throw orderNotFound()
    return toOrder(row)
  }

  function shop(): Shop & { readonly inventory: StockLedger } {
    return {
      currency,
      now: Date.now(),
      inventory: stockLedger(),
      activeOrderNumbered(customer, orderNumber) {
        const row = findNumber.get(customer, orderNumber)
        return row && toOrder(row)
      },
      activeIdNumbered: (customer, orderNumber) => findNumberId.get(customer, orderNumber),
      orderOfDocument: documents.orderOf
    }
  }

  return {
    placeOrder(placing) {
      const { idempotency } = placing
      const before = idempotency && replayed('order', idempotency, keys.find(idempotency))
      if (before) return before
      const current = shop()
      const { taken, events: made, ...answer } = decidePlacing(placing, randomUUID(), current)
      if (placing.mode === 'dry-run') return { ...answer, replayed: false }
      current.inventory.take(taken, current.now)
      const order = answer.outcome === 'placed' ? write(answer.order, made, placing.document) : answer.order
      if (idempotency) keys.keep(idempotency, { ...answer, order })
      return { ...answer, order, replayed: false }
    },
    changeOrder(id, document, expected, options = {}) {
      const before = find(id)
      const current = shop()
      const { order, taken, events: made } = decideChange(before, document, expected, current, options)
      if (options.mode === 'dry-run') return order
      current.inventory.take(taken, current.now)
      const columns = rewrite(order)
      if (options.document) documents.write(id, options.document)
      events.write(made, columns)
      return order
    },
    setOrderStatus(id, status, expected, { details } = {}) {
      const before = find(id)
      const current = shop()
      const decided = decideStatus(before, status, expected, current, details)
      if (!decided) return before
      const { change, rewritten, shipment, taken, events: made } = decided
      current.inventory.take(taken, current.now)
      const order = rewritten ?? { ...before, ...change }
      const columns = rewritten ? rewrite(rewritten) : toColumns(order)
      if (!rewritten) update.run(columns)
      if (shipment) writeShipment(shipment)
      events.write(made, columns)
      return order
    },
    shipOrder(id, draft, expected, { idempotency } = {}) {
      const earlier = idempotency && replayed('shipment', idempotency, keys.find(idempotency))
      if (earlier) return earlier
      const before = find(id)
      const { order, shipment, events: made } = decideShipment(before, draft, expected, shop())
      const columns = rewrite(order)
      writeShipment(shipment)
      events.write(made, columns)
      if (idempotency) keys.keep(idempotency, { shipment })
      return { shipment, replayed: false }
    }
  }
}

function toColumns(order: Order): OrderColumns {
  return {
    id: order.id,
    version: order.version,
    customer: order.customer ?? null,
    order_number: order.orderNumber ?? null,
    status: order.status,
    placed_at: order.placedAt,
    modified_at: order.modifiedAt,
    content: orderContent(order)
  }
}
