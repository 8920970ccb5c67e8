import { join } from 'node:path'
import t, { type Test } from 'tap'
import { connectWriter } from '../../stores/sqlite/connection.ts'
import { migrateSqlite } from '../../stores/sqlite/migrations.ts'
import { codedSql, numberedSql } from '../../stores/sqlite/reader.ts'
import { processorTime } from '../growth.ts'

/** Where a look-up searches each table: what SQLite's plan says of each step that reads one. */
async function searches(t: Test, sql: string, bound: object): Promise<readonly string[]> {
  const path = join(t.testdir({}), 'shop.db')
  await migrateSqlite(path)
  const db = connectWriter(path)
  t.teardown(() => db.close())
  const steps = db.prepare<[object], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(bound)
  return steps.map(({ detail }) => detail).filter((detail) => /^(?:SEARCH|SCAN|USE)/.test(detail) && !detail.includes('json_each'))
}

t.test('an order is found by its number in the indexes, and no other is read, sorted or compared', async (t) => {
  t.same(await searches(t, numberedSql, { customer: 'acme', orderNumber: 'PO-1' }), [
    'SEARCH o USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH purchase_order USING INDEX order_number (customer=? AND order_number=?)',
    'SEARCH purchase_order USING COVERING INDEX order_any_number (customer=? AND order_number=?)'
  ])
})

t.test('products are found by id and by GTIN in the indexes', async (t) => {
  t.same(await searches(t, codedSql, { codes: '["ABC-1"]', gtins: '[]' }), [
    'SEARCH product USING INDEX sqlite_autoindex_product_1 (id=?)',
    'SEARCH product USING INDEX product_gtin14 (gtin14=?)'
  ])
})

t.test('an order is found by its number in the same time, however many orders of the number have ended', async (t) => {
  const path = join(t.testdir({}), 'shop.db')
  await migrateSqlite(path)
  const db = connectWriter(path)
  t.teardown(() => db.close())
  const add = db.prepare<[{ count: number }]>(
    `WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < @count)
      INSERT INTO purchase_order (id, version, customer, order_number, status, placed_at, modified_at, content)
      SELECT hex(randomblob(16)), 1, 'acme', 'PO-1', 'cancelled', 1, 1, '{}' FROM n`
  )
  const find = db.prepare<[object], { readonly seq: number }>(numberedSql)
  const bound = { customer: 'acme', orderNumber: 'PO-1' }
  const time = () =>
    processorTime(() => {
      for (let i = 0; i < 200; i++) find.get(bound)
    })
  add.run({ count: 1_000 })
  const few = time()
  add.run({ count: 49_000 })
  const many = time()
  t.ok(many < 10 * few, `${few} and ${many} ms`)
})
