import t from 'tap'
import { makeOrders } from '../../stores/postgres/orders.ts'
import { execute, postgresFor } from './embedded.ts'
import { newShopDatabase } from './new-database.ts'
import { blocksRead } from './plan-steps.ts'
import { RememberingDatabase } from './remembering-database.ts'

const server = await postgresFor(t)

/** A number with many orders that have ended, which others use too. */
const fill = `INSERT INTO purchase_order (id, version, customer, order_number, status, placed_at, modified_at, content, item_count, currency, total)
  SELECT gen_random_uuid(), 1, (ARRAY['acme', 'other'])[1 + n % 2], 'PO-1', 'cancelled', n, n, '{"items":[]}', 1, 'EUR', '1.00'
    FROM generate_series(1, 20000) n`

t.test('an order is found by its number in a few pages, however many orders of the number have ended', async (t) => {
  const url = await newShopDatabase(server)
  const database = new RememberingDatabase(url, 1)
  t.teardown(() => database.close())
  await execute(url, fill)
  const { orderHeadNumbered } = makeOrders(database)
  for (const statistics of ['none', 'new']) {
    if (statistics === 'new') await execute(url, 'ANALYZE purchase_order')
    t.match(await orderHeadNumbered('acme', 'PO-1'), { status: 'cancelled', placedAt: 20_000 }, statistics)
    const blocks = blocksRead(await database.explainLast())
    t.ok(blocks <= 15, `${blocks} blocks, statistics: ${statistics}`)
  }
  await execute(url, "UPDATE purchase_order SET status = 'accepted' WHERE placed_at = 10")
  t.match(await orderHeadNumbered('acme', 'PO-1'), { status: 'accepted', placedAt: 10 })
  t.equal(await orderHeadNumbered('acme', 'PO-2'), undefined)
})
