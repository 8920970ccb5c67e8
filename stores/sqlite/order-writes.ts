import { randomUUID } from 'node:crypto'
import { DomainError, orderNotFound } from '../../domain/errors.ts'
import { holdsStock, isOpen, nextStatuses, type Order, type OrderHeader, type OrderStatus, type PurchaseOrder } from '../../domain/order.ts'
import { type Decision, decide, givenBack, matchesOrder, numberTaken } from '../../domain/placing.ts'
import { checkPrecondition } from '../../domain/preconditions.ts'
import type { Placed, Placing } from '../../domain/store.ts'
import { orderContent, type SummaryColumns, summaryOf } from '../rows.ts'
import type { Connection } from './connection.ts'
import { makeIdempotencyRows } from './idempotency-rows.ts'
import { type OrderRow, orderColumns, toOrder } from './rows.ts'
import { makeStockLedger } from './stock-ledger.ts'
import type { Writes } from './writes.ts'

type OrderVerb = 'placeOrder' | 'changeOrder' | 'setOrderStatus'
type Kept = Omit<OrderRow, 'seq'>

const summary = 'item_count, currency, total, buyer_name, lines'
const kept = 'version, customer, order_number, status, placed_at, modified_at, content'

export function makeOrderWrites(db: Connection, currency: string): Writes<OrderVerb> {
  const shelving = makeStockLedger(db)
  const idempotency = makeIdempotencyRows(db)
  const find = db.prepare<[string], OrderRow>(`SELECT ${orderColumns} FROM purchase_order WHERE id = ?`)
  const findNumber = db.prepare<[string, string], OrderRow>(
    `SELECT ${orderColumns} FROM purchase_order WHERE customer = ? AND order_number = ? AND status NOT IN ('cancelled', 'rejected')`
  )
  const values = kept.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare<[Kept]>(`INSERT INTO purchase_order (id, ${kept}) VALUES (@id, ${values})`)
  const update = db.prepare<[Kept]>(`UPDATE purchase_order SET (${kept}) = (${values}) WHERE id = @id`)

  const insertSummary = db.prepare<[Pick<Kept, 'id'> & SummaryColumns]>(
    `INSERT INTO order_summary (seq, ${summary}) SELECT seq, ${summary.replaceAll(/\w+/g, '@$&')} FROM purchase_order WHERE id = @id`
  )
  const updateSummary = db.prepare<[Pick<Kept, 'id'> & SummaryColumns]>(
    `UPDATE order_summary SET (${summary}) = (${summary.replaceAll(/\w+/g, '@$&')})
      WHERE seq = (SELECT seq FROM purchase_order WHERE id = @id)`
  )

  function there(id: string): Order {
    const row = find.get(id)
    if (!row) throw orderNotFound()
    return toOrder(row)
  }

  /** The customer's order that stands under a number. */
  function standing(customer: string | undefined, number: string | undefined): Order | undefined {
    const row = customer === undefined || number === undefined ? undefined : findNumber.get(customer, number)
    return row && toOrder(row)
  }

  function place({ order, customer, status }: Placing): Placed {
    const shelves = shelving.inventory()
    const other = standing(customer, order.orderNumber)
    if (other && matchesOrder(order, other, shelves, currency)) return { order: other, outcome: 'repeated', replayed: false }
    if (other) throw numberTaken(other)
    const decision = decide(order, shelves, currency)
    shelving.take(decision.taken)
    const now = Date.now()
    const owner = customer === undefined ? {} : { customer }
    const placed = { ...terms(order, decision), ...owner, id: randomUUID(), version: 1, status, placedAt: now, modifiedAt: now }
    insert.run(toKept(placed))
    insertSummary.run({ id: placed.id, ...summaryOf(placed) })
    return { order: placed, outcome: 'placed', replayed: false }
  }

  function change(order: Order): Order {
    const changed = { ...order, version: order.version + 1, modifiedAt: Math.max(Date.now(), order.modifiedAt) }
    update.run(toKept(changed))
    return changed
  }

  return {
    placeOrder(placing) {
      const before = placing.idempotency && idempotency.find(placing.idempotency)
      if (before) return { ...before, replayed: true }
      const placed = place(placing)
      if (placing.idempotency) idempotency.keep(placing.idempotency, placed)
      return placed
    },
    changeOrder(id, order, expected, mostItems) {
      const before = there(id)
      if (!isOpen(before.status)) throw new DomainError('transition-refused', `The order is ${before.status}: it can no longer be changed.`)
      checkPrecondition(expected, before.version)
      const other = standing(before.customer, order.orderNumber)
      if (other && other.id !== id) throw numberTaken(other)
      const decision = decide(order, shelving.inventory(), currency, before, mostItems)
      shelving.take(decision.taken)
      const { customer, version, status, placedAt, modifiedAt } = before
      const owner = customer === undefined ? {} : { customer }
      const changed = change({ ...terms(order, decision), ...owner, id, version, status, placedAt, modifiedAt })
      updateSummary.run({ id, ...summaryOf(changed) })
      return changed
    },
    setOrderStatus(id, status, expected) {
      const before = there(id)
      if (before.status === status) return before
      checkPrecondition(expected, before.version)
      if (!nextStatuses(before.status).includes(status)) throw refusedTransition(before.status, status)
      if (!holdsStock(status)) shelving.take(givenBack(before, shelving.inventory()))
      return change({ ...before, status })
    }
  }
}

function terms(order: PurchaseOrder, { currency, items, total }: Decision): OrderHeader & Pick<Order, 'currency' | 'items' | 'total'> {
  const { items: _items, ...header } = order
  return { ...header, currency, items, total }
}

function toKept(order: Order): Kept {
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

function refusedTransition(from: OrderStatus, to: OrderStatus): DomainError {
  const next = nextStatuses(from)
  const allowed = next.length === 0 ? 'nothing follows that' : `it can become ${next.join(' or ')}`
  return new DomainError('transition-refused', `The order is ${from} and cannot become ${to}: ${allowed}.`)
}
