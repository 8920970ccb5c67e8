import type { JsonText } from '../../domain/deferred.ts'
import { PositionError } from '../../domain/errors.ts'
import type { Order } from '../../domain/order.ts'
import { type OrderList, orderList, orderPage, type Range, rangeOf, readPosition, wholeOrderPage } from '../../domain/order-list.ts'
import type { Page } from '../../domain/page.ts'
import type { OrderQuery } from '../../domain/store.ts'
import { type CommonOrderRow, deferredOrder, orderHeadColumns, type SummaryRow, shipmentCountOf, summaryFrom } from '../rows.ts'
import type { Connection } from './connection.ts'
import { undecoded } from './rows.ts'
import type { Sync } from './write-verbs.ts'

interface Bounds {
  readonly customer: string | undefined
  readonly status: string | undefined
  readonly orderNumber: string | undefined
  /** The range of the page. */
  readonly aboveTime: number
  readonly aboveSeq: number
  readonly belowTime: number
  readonly belowSeq: number
  readonly rows: number
  readonly lines: 0 | 1
}

interface SizedRow extends CommonOrderRow {
  readonly size: number
}

/** The index of the filters, with the conditions that it answers. */
function indexOf({ by, indexed: { customer, status, orderNumber } }: OrderList): { readonly index: string; readonly conditions: string[] } {
  const conditions = [
    ...(customer === undefined ? [] : ['o.customer = @customer']),
    ...(status === undefined ? [] : ['o.status = @status']),
    ...(orderNumber === undefined ? [] : ['o.order_number = @orderNumber'])
  ]
  if (orderNumber !== undefined) return { index: customer === undefined ? 'order_numbered' : 'order_any_number', conditions }
  const names = [...(customer === undefined ? [] : ['customer']), ...(status === undefined ? [] : ['status'])]
  if (by === 'modified' || names.length === 0) names.push(by)
  return { index: ['order', ...names].join('_'), conditions }
}

const shipmentCount = shipmentCountOf('shipment.seq = o.seq')
const summaryOf = `${orderHeadColumns}, s.item_count, s.currency, s.total, s.buyer_name, ${shipmentCount}, iif(@lines, s.lines, NULL) AS lines`
const summaries = 'CROSS JOIN order_summary s ON s.seq = o.seq'

/**
 * The statement of a page. The index returns the rows in the order of the list, and applies every filter but those that are checked
 * row by row. The row number continues within orders of the same time.
 */
function sqlOf(list: OrderList, columns: string, joined: string): string {
  const { index, conditions } = indexOf(list)
  const time = `o.${list.by}_at`
  const direction = list.direction === 'newest' ? 'DESC' : 'ASC'
  const range = [`(${time}, o.seq) > (@aboveTime, @aboveSeq)`, `(${time}, o.seq) < (@belowTime, @belowSeq)`]
  const where = [...conditions, ...range].join(' AND ')
  return `SELECT ${columns} FROM purchase_order o INDEXED BY ${index} ${joined} WHERE ${where}
    ORDER BY ${time} ${direction}, o.seq ${direction} LIMIT @rows`
}

/** The statement of a page of summaries, for tests of its plan. */
export const summariesSql = (list: OrderList) => sqlOf(list, summaryOf, summaries)

export function makeOrderPages(db: Connection): Sync<'orders' | 'wholeOrders'> {
  const positions = db.prepare<[{ id: string; customer: string | null }], { readonly seq: number; readonly placed_at: number }>(
    'SELECT seq, placed_at FROM purchase_order WHERE id = @id AND (@customer IS NULL OR customer = @customer)'
  )
  const contents = db.prepare<[number], JsonText>(`SELECT ${undecoded('content')} FROM purchase_order WHERE seq = ?`).pluck()

  // Each of the few dozen statements is prepared when it is first needed.
  const prepared = new Map<string, ReturnType<Connection['prepare']>>()
  function rowsOf<Row>(sql: string, bounds: Bounds): readonly Row[] {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return statement.all(bounds) as Row[]
  }

  function rangeAfter(list: OrderList, after: string | undefined): Range {
    if (after === undefined) return rangeOf(list)
    const { id, modifiedAt } = readPosition(after, list)
    const row = positions.get({ id, customer: list.indexed.customer ?? null })
    if (!row) throw new PositionError('not an order of this list')
    return rangeOf(list, { time: modifiedAt ?? row.placed_at, seq: row.seq })
  }

  function bounds(list: OrderList, { after, lines = false }: OrderQuery): Bounds {
    const { customer, status, orderNumber } = list.indexed
    const { above, below } = rangeAfter(list, after)
    const range = { aboveTime: above.time, aboveSeq: above.seq, belowTime: below.time, belowSeq: below.seq }
    return { customer, status, orderNumber, ...range, rows: list.mostRows, lines: lines ? 1 : 0 }
  }

  // The content of an order is read after the page is known, in the same transaction.
  const whole = db.transaction((query: OrderQuery, most?: number): Page<Order> => {
    const list = orderList(query)
    const rows = rowsOf<SizedRow>(sqlOf(list, `${orderHeadColumns}, octet_length(o.content) AS size`, ''), bounds(list, query))
    const { items, ...next } = wholeOrderPage(rows, list, most)
    return { items: items.map((row) => deferredOrder(row, contents.get(row.seq) ?? '')), ...next }
  })

  return {
    orders(query) {
      const list = orderList(query)
      return orderPage(rowsOf<SummaryRow>(summariesSql(list), bounds(list, query)), list, summaryFrom)
    },
    wholeOrders: (query, most) => whole(query, most)
  }
}
