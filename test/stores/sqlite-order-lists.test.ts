import { join } from 'node:path'
import t from 'tap'
import { mostLookedAt, type OrderList, orderList } from '../../domain/order-list.ts'
import { connectWriter } from '../../stores/sqlite/connection.ts'
import { migrateSqlite } from '../../stores/sqlite/migrations.ts'
import { summariesSql } from '../../stores/sqlite/order-pages.ts'
import { everyOrderQuery } from './order-list-queries.ts'

/** The columns that the index of a list must search by, in its order. */
function searched({ by, indexed: { customer, status, orderNumber } }: OrderList): string {
  const equal = [...(customer ? ['customer=?'] : []), ...(status ? ['status=?'] : []), ...(orderNumber ? ['order_number=?'] : [])]
  const time = [`${by}_at>?`, `${by}_at<?`]
  return `(${[...equal, ...time].join(' AND ')})`
}

t.test('each combination of filters is answered by one range of an index, in the order of the list, and looks at few rows', async (t) => {
  const path = join(t.testdir({}), 'shop.db')
  await migrateSqlite(path)
  const db = connectWriter(path)
  t.teardown(() => db.close())
  const range = { aboveTime: 0, aboveSeq: 0, belowTime: 5_000, belowSeq: 1 }
  const bounds = { customer: 'acme', status: 'received', orderNumber: 'PO-1', ...range, rows: 11, lines: 0 }
  const indexes = new Set<string>()
  for (const query of everyOrderQuery()) {
    const list = orderList(query)
    const steps = db
      .prepare<[object], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${summariesSql(list)}`)
      .all(bounds)
      .map(({ detail }) => detail)
    const [first = '', ...others] = steps
    t.match(first, /^SEARCH o USING INDEX /, JSON.stringify(query))
    t.ok(first.endsWith(searched(list)), `${first} has ${searched(list)}`)
    t.same(
      others,
      [
        'SEARCH s USING INTEGER PRIMARY KEY (rowid=?)',
        'CORRELATED SCALAR SUBQUERY 1',
        'SEARCH shipment USING COVERING INDEX sqlite_autoindex_shipment_1 (seq=?)'
      ],
      'nothing is sorted'
    )
    t.ok(list.mostRows <= Math.max(query.limit + 1, mostLookedAt))
    indexes.add(first.split(' ')[4] ?? '')
  }
  t.same([...indexes].sort(), [
    'order_any_number',
    'order_customer',
    'order_customer_modified',
    'order_customer_status',
    'order_modified',
    'order_numbered',
    'order_placed',
    'order_status'
  ])
})
