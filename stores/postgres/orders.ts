import { DomainError, orderNotFound, PositionError } from '../../domain/errors.ts'
import {
  holdsStock,
  isOpen,
  nextStatuses,
  type Order,
  type OrderStatus,
  type OrderSummary,
  type ProductReference
} from '../../domain/order.ts'
import { decide, givenBack, numberTaken } from '../../domain/placing.ts'
import type { OrderQuery, Page, Store } from '../../domain/store.ts'
import { expect } from '../expectations.ts'
import { toPage } from '../paging.ts'
import { orderContent, summaryOf } from '../rows.ts'
import { retrying } from './batcher.ts'
import type { Database, Queries } from './database.ts'
import { terms } from './placing.ts'
import { now, type OrderRow, type OrderSummaryRow, orderColumns, toOrder, toSummary } from './rows.ts'
import { lockShelves } from './shelving.ts'
import { StandingNumbers } from './standing-numbers.ts'

type OrderVerb = 'order' | 'orders' | 'changeOrder' | 'setOrderStatus'

/** An order's id as it was made: PostgreSQL would also take others for it, as one in capitals. */
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/

export function makeOrders(database: Database, currency: string): Pick<Store, OrderVerb> {
  return {
    async order(id) {
      const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.id = $1`
      return there(uuid.test(id) ? await database.prepared<OrderRow>(sql, [id]) : [])
    },

    orders: (query) => page(database, query),

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
        return there(rows)
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
        return there(await queries.query<OrderRow>(sql, [id, status]))
      })
  }
}

function there([row]: readonly OrderRow[]): Order {
  if (!row) throw orderNotFound()
  return toOrder(row)
}

function productsOf(order: Order): ProductReference[] {
  return order.items.map(({ productId }) => ({ productId }))
}

/** Locks an order for what becomes of it. */
function change(database: Database, id: string, write: (queries: Queries, before: Order) => Promise<Order>): Promise<Order> {
  return retrying(() =>
    database.transaction(async (queries) => {
      const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.id = $1 FOR UPDATE`
      return write(queries, there(uuid.test(id) ? await queries.query<OrderRow>(sql, [id]) : []))
    })
  )
}

function refusedTransition(from: OrderStatus, to: OrderStatus): DomainError {
  const next = nextStatuses(from)
  const allowed = next.length === 0 ? 'nothing follows that' : `it can become ${next.join(' or ')}`
  return new DomainError('transition-refused', `The order is ${from} and cannot become ${to}: ${allowed}.`)
}

/** The row's number of an order of the list. @throws PositionError when it is none of them */
async function placeOf(database: Database, id: string, customer: string | undefined): Promise<number> {
  const sql = 'SELECT seq FROM purchase_order WHERE id = $1 AND ($2::text IS NULL OR customer = $2)'
  const [row] = uuid.test(id) ? await database.query<{ readonly seq: number }>(sql, [id, customer ?? null]) : []
  if (!row) throw new PositionError('not an order of this list')
  return row.seq
}

/** Newest first. Each combination of filters has its index, which ends with the row's number. */
async function page(database: Database, { limit, after, customer, status, lines = false }: OrderQuery): Promise<Page<OrderSummary>> {
  const before = after === undefined ? Number.MAX_SAFE_INTEGER : await placeOf(database, after, customer)
  const values: unknown[] = [before, limit, lines]
  const conditions = ['o.seq < $1']
  if (customer !== undefined) conditions.push(`o.customer = $${values.push(customer)}`)
  if (status !== undefined) conditions.push(`o.status = $${values.push(status)}`)
  // What a replica of an earlier release has placed or changed has no summary.
  const sql = `SELECT o.seq, o.id, o.version, o.customer, o.order_number, o.status, o.placed_at, o.modified_at,
      coalesce(o.item_count, json_array_length(o.content -> 'items')) AS item_count, coalesce(o.currency, o.content ->> 'currency') AS currency,
      coalesce(o.total, o.content ->> 'total') AS total, o.buyer_name, CASE WHEN $3::boolean THEN o.lines END AS lines
    FROM purchase_order o WHERE ${conditions.join(' AND ')} ORDER BY o.seq DESC LIMIT $2::bigint + 1`
  const rows = await database.query<OrderSummaryRow>(sql, values)
  // A row's id, unlike its number, tells nobody how many there are.
  return toPage(rows, limit, toSummary, ({ id }) => id)
}
