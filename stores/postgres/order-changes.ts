/** What becomes of an order that stands: each change is a transaction of its own. */

import { DomainError } from '../../domain/errors.ts'
import { holdsStock, isOpen, nextStatuses, type Order, type OrderStatus, type ProductReference } from '../../domain/order.ts'
import { decide, givenBack, numberTaken } from '../../domain/placing.ts'
import type { Store } from '../../domain/store.ts'
import { expect } from '../expectations.ts'
import { orderContent, summaryOf } from '../rows.ts'
import { retrying } from './batcher.ts'
import type { Database, Queries } from './database.ts'
import { terms } from './placing.ts'
import { firstOrder, isOrderId, now, type OrderRow, orderColumns } from './rows.ts'
import { lockShelves } from './shelving.ts'
import { StandingNumbers } from './standing-numbers.ts'

export function makeOrderChanges(database: Database, currency: string): Pick<Store, 'changeOrder' | 'setOrderStatus'> {
  return {
    changeOrder: (id, order, expected, mostItems) =>
      change(database, id, async (queries, before) => {
        if (!isOpen(before.status))
          throw new DomainError('transition-refused', `The order is ${before.status}: it can no longer be changed.`)
        expect(expected, before.version)
        const owner = before.customer === undefined ? {} : { customer: before.customer }
        const [shelves, numbers] = await Promise.all([
          lockShelves(queries, [...order.items.map(({ product }) => product), ...productsOf(before)]),
          StandingNumbers.read(queries, [{ ...owner, order }])
        ])
        const other = numbers.find({ ...owner, order })
        if (other && other.id !== id) throw numberTaken(other)
        const decision = decide(order, shelves, currency, before, mostItems)
        shelves.take(decision.taken)
        await shelves.write(queries)
        const { version, status, placedAt, modifiedAt } = before
        const after = { ...terms(order, decision), ...owner, id, version, status, placedAt, modifiedAt }
        const { item_count, currency: paidIn, total, buyer_name, lines } = summaryOf(after)
        const rows = await queries.query<OrderRow>(
          `UPDATE purchase_order o SET version = o.version + 1, order_number = $2, content = $3,
              item_count = $4, currency = $5, total = $6, buyer_name = $7, lines = $8, modified_at = greatest(o.modified_at, ${now})
            WHERE o.id = $1 RETURNING ${orderColumns}`,
          [id, after.orderNumber ?? null, orderContent(after), item_count, paidIn, total, buyer_name, lines]
        )
        return firstOrder(rows)
      }),

    setOrderStatus: (id, status, expected) =>
      change(database, id, async (queries, before) => {
        if (before.status === status) return before
        expect(expected, before.version)
        if (!nextStatuses(before.status).includes(status)) throw refusedTransition(before.status, status)
        if (!holdsStock(status)) {
          const shelves = await lockShelves(queries, productsOf(before))
          shelves.take(givenBack(before, shelves))
          await shelves.write(queries)
        }
        const sql = `UPDATE purchase_order o SET version = o.version + 1, status = $2, modified_at = greatest(o.modified_at, ${now})
          WHERE o.id = $1 RETURNING ${orderColumns}`
        return firstOrder(await queries.query<OrderRow>(sql, [id, status]))
      })
  }
}

function productsOf(order: Order): ProductReference[] {
  return order.items.map(({ productId }) => ({ productId }))
}

/** Locks an order for what becomes of it. */
function change(database: Database, id: string, write: (queries: Queries, before: Order) => Promise<Order>): Promise<Order> {
  return retrying(() =>
    database.transaction(async (queries) => {
      const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.id = $1 FOR UPDATE`
      return write(queries, firstOrder(isOrderId(id) ? await queries.query<OrderRow>(sql, [id]) : []))
    })
  )
}

function refusedTransition(from: OrderStatus, to: OrderStatus): DomainError {
  const next = nextStatuses(from)
  const allowed = next.length === 0 ? 'nothing follows that' : `it can become ${next.join(' or ')}`
  return new DomainError('transition-refused', `The order is ${from} and cannot become ${to}: ${allowed}.`)
}
