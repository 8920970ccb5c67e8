import { DomainError, orderNotFound, PositionError } from '../../domain/errors.ts'
import { holdsStock, isOpen, nextStatuses, type Order, type OrderStatus, type ProductReference } from '../../domain/order.ts'
import { decide, givenBack, numberTaken } from '../../domain/placing.ts'
import type { OrderQuery, Page, Store } from '../../domain/store.ts'
import { expect } from '../expectations.ts'
import { pageBytes, toCutPage } from '../paging.ts'
import { orderContent } from '../rows.ts'
import { retrying } from './batcher.ts'
import type { Database, Queries } from './database.ts'
import { terms } from './placing.ts'
import { now, type OrderRow, orderColumns, toOrder } from './rows.ts'
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

    changeOrder: (id, order, expected) =>
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
        const decision = decide(order, shelves, currency, before)
        shelves.take(decision.taken)
        await shelves.write(queries)
        const { version, status, placedAt, modifiedAt } = before
        return { ...terms(order, decision), ...owner, id, version, status, placedAt, modifiedAt }
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
        return { ...before, status }
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

/** Locks an order and writes what becomes of it; the same order, unchanged, is not written. */
function change(database: Database, id: string, decided: (queries: Queries, before: Order) => Promise<Order>): Promise<Order> {
  return retrying(() =>
    database.transaction(async (queries) => {
      const sql = `SELECT ${orderColumns} FROM purchase_order o WHERE o.id = $1 FOR UPDATE`
      const before = there(uuid.test(id) ? await queries.query<OrderRow>(sql, [id]) : [])
      const after = await decided(queries, before)
      if (after === before) return before
      const rows = await queries.query<OrderRow>(
        `UPDATE purchase_order o SET version = o.version + 1, order_number = $2, status = $3, content = $4,
            modified_at = greatest(o.modified_at, ${now})
          WHERE o.id = $1 RETURNING ${orderColumns}`,
        [id, after.orderNumber ?? null, after.status, orderContent(after)]
      )
      return there(rows)
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
async function page(database: Database, { limit, after, customer, status }: OrderQuery): Promise<Page<Order>> {
  const before = after === undefined ? Number.MAX_SAFE_INTEGER : await placeOf(database, after, customer)
  const values: unknown[] = [before, limit, pageBytes]
  const conditions = ['o.seq < $1']
  if (customer !== undefined) conditions.push(`o.customer = $${values.push(customer)}`)
  if (status !== undefined) conditions.push(`o.status = $${values.push(status)}`)
  const sql = `SELECT ${orderColumns}, at.follows FROM (
      SELECT seq, sum(content_size) OVER newest - content_size AS sizes, lead(seq) OVER newest AS follows FROM (
        SELECT o.seq, o.content_size FROM purchase_order o WHERE ${conditions.join(' AND ')} ORDER BY o.seq DESC LIMIT $2::bigint + 1) n
      WINDOW newest AS (ORDER BY seq DESC)
      ORDER BY seq DESC LIMIT $2::bigint) at
    JOIN purchase_order o USING (seq) WHERE at.sizes < $3 ORDER BY seq DESC`
  const rows = await database.query<OrderRow & { readonly follows: number | null }>(sql, values)
  return toCutPage(rows, toOrder)
}
