import { randomUUID } from 'node:crypto'
import type { Order, OrderHeader, PurchaseOrder } from '../../domain/order.ts'
import { type Decision, decide, numberTaken, sameContent } from '../../domain/placing.ts'
import type { Placed, Placing } from '../../domain/store.ts'
import { orderContent, summaryOf } from '../rows.ts'
import { attempt, type Outcome } from './batcher.ts'
import type { Database, Queries } from './database.ts'
import { KeptKeys } from './idempotency.ts'
import { now } from './rows.ts'
import { lockShelves } from './shelving.ts'
import { StandingNumbers } from './standing-numbers.ts'

/**
 * Places a batch of orders in one transaction: the shelves of all of them are locked, then each is decided in the order
 * of arrival on what those before it left. Two round trips, one more when an availability flips.
 *
 * The products' locks also keep twins apart, two posts of one key or order number: the second, on whatever replica, looks
 * for the first after it has waited for the products of both. Where twins name no product in common, a unique index
 * refuses the second batch, which is then tried again.
 */
export function makePlacing(database: Database, currency: string): (placings: readonly Placing[]) => Promise<Outcome<Placed>[]> {
  return (placings) =>
    database.transaction(async (queries) => {
      const items = placings.flatMap(({ order }) => order.items)
      const [shelves, keys, numbers, at] = await Promise.all([
        lockShelves(
          queries,
          items.map(({ product }) => product)
        ),
        KeptKeys.read(
          queries,
          placings.flatMap(({ idempotency }) => idempotency ?? [])
        ),
        StandingNumbers.read(queries, placings),
        clock(queries)
      ])
      const taken: Order[] = []

      function standing(placing: Placing): Order | undefined {
        const other = numbers.find(placing)
        if (other && !sameContent(placing.order, other, shelves, currency)) throw numberTaken(other)
        return other
      }

      function take(placing: Placing): Order {
        const decision = decide(placing.order, shelves, currency)
        shelves.take(decision.taken)
        const order = accepted(placing, decision, at)
        numbers.stand(order)
        taken.push(order)
        return order
      }

      function place(placing: Placing): Placed {
        const before = placing.idempotency && keys.find(placing.idempotency)
        if (before) return { ...before, replayed: true }
        const other = standing(placing)
        const placed = { order: other ?? take(placing), outcome: other ? 'repeated' : 'placed', replayed: false } as const
        if (placing.idempotency) keys.keep(placing.idempotency, placed)
        return placed
      }

      const outcomes = placings.map((placing) => attempt(() => place(placing)))
      await shelves.write(queries)
      insert(queries, taken)
      keys.write(queries, at)
      return outcomes
    })
}

async function clock({ query }: Queries): Promise<number> {
  const [row] = await query<{ now: number }>(`SELECT ${now} AS now`)
  if (!row) throw new Error('the database has no clock')
  return row.now
}

function accepted({ order, customer, status }: Placing, decision: Decision, at: number): Order {
  const owner = customer === undefined ? {} : { customer }
  return { ...terms(order, decision), ...owner, id: randomUUID(), version: 1, status, placedAt: at, modifiedAt: at }
}

/** What an order says, priced. */
export function terms(
  order: PurchaseOrder,
  { currency, items, total }: Decision
): OrderHeader & Pick<Order, 'currency' | 'items' | 'total'> {
  const { items: _items, ...header } = order
  return { ...header, currency, items, total }
}

/** Sends the new rows, in the order of arrival, which is that of their numbers; nothing is waited for. */
function insert({ query }: Queries, orders: readonly Order[]): void {
  if (orders.length === 0) return
  const summaries = orders.map(summaryOf)
  void query(
    `INSERT INTO purchase_order (id, version, customer, order_number, status, placed_at, modified_at, content,
        item_count, currency, total, buyer_name, lines)
      SELECT n.id, 1, n.customer, n.order_number, n.status, n.placed_at, n.placed_at, n.content,
        n.item_count, n.currency, n.total, n.buyer_name, n.lines
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::json[],
          $7::integer[], $8::text[], $9::text[], $10::text[], $11::json[])
        AS n (id, customer, order_number, status, placed_at, content, item_count, currency, total, buyer_name, lines)`,
    [
      orders.map(({ id }) => id),
      orders.map(({ customer }) => customer ?? null),
      orders.map(({ orderNumber }) => orderNumber ?? null),
      orders.map(({ status }) => status),
      orders.map(({ placedAt }) => placedAt),
      orders.map(orderContent),
      summaries.map(({ item_count }) => item_count),
      summaries.map(({ currency }) => currency),
      summaries.map(({ total }) => total),
      summaries.map(({ buyer_name }) => buyer_name),
      summaries.map(({ lines }) => lines)
    ]
  )
}
