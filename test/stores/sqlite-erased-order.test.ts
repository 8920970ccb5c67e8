import { join } from 'node:path'
import t from 'tap'
import { Connection } from '../../stores/sqlite/connection.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { databaseFolder } from '../memory.ts'
import { blocks, read } from '../readme/pages.ts'
import { item, purchase, shopCurrency, stocked } from './fixtures.ts'
import { newSqliteFile } from './new-database.ts'

t.test('the statement of docs/operations.md deletes an order with its document and its shipments, and no other order', async (t) => {
  const path = await newSqliteFile(join(databaseFolder(t), 'shop.db'))
  const store = await openSqliteStore({ path, currency: shopCurrency })
  t.teardown(() => store.close())
  await store.createProduct('a', stocked(10))
  const place = async (digest: string) => {
    const document = { mediaType: 'application/xml', digest, answer: {}, bytes: Buffer.from('<Order/>') }
    const order = { ...purchase([item('a', 2)]), hasDocument: true } as const
    const placed = await store.placeOrder({ order, customer: 'acme', status: 'accepted', document })
    await store.shipOrder(placed.order.id, { items: [] }, {})
    return placed.order
  }
  const [erased, other] = [await place('first'), await place('second')]

  const database = new Connection(path)
  t.teardown(() => database.close())
  const tables = ['purchase_order', 'order_summary', 'order_document', 'sent_document', 'shipment']
  const counts = () => tables.map((table) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  t.same(counts(), [2, 2, 2, 2, 2])
  const statement = blocks(read('docs/operations.md')).find(({ language }) => language === 'sql')?.text ?? ''
  // Other programs begin without foreign keys, and the first line of the statement switches them on.
  database.exec('PRAGMA foreign_keys = OFF')
  database.exec(statement.replace(/'[0-9a-f-]{36}'/, `'${erased.id}'`))
  t.same(counts(), [1, 1, 1, 1, 1])
  await t.rejects(store.order(erased.id), { code: 'order-not-found' })
  t.equal((await store.order(other.id)).id, other.id)
})
