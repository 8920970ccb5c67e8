import { join } from 'node:path'
import t from 'tap'
import type { Placing } from '../../domain/store.ts'
import { makeBatch } from '../../stores/sqlite/batch.ts'
import { connectWriter } from '../../stores/sqlite/connection.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import type { WriteCommand } from '../../stores/sqlite/write-verbs.ts'
import { draft, onHand, placing, shopCurrency, stocked } from './fixtures.ts'
import { newSqliteFile } from './new-database.ts'

const place = (order: Placing): WriteCommand => ({ verb: 'placeOrder', args: [order] })

t.test('a command that fails after it has written is undone whole, and the others of its batch are stored', async (t) => {
  const path = await newSqliteFile(join(t.testdir({}), 'shop.db'))
  const db = connectWriter(path)
  t.teardown(() => db.close())
  // The stock is taken before the order is written.
  db.exec("CREATE TRIGGER refuse BEFORE INSERT ON purchase_order WHEN NEW.customer = 'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END")
  const run = makeBatch(db, shopCurrency, () => {})
  const outcomes = run([
    { verb: 'createProduct', args: ['a', stocked(10)] },
    place(placing('a', 1)),
    place(placing('a', 100)),
    place(placing('a', 2, { customer: 'refused' })),
    { verb: 'createProduct', args: ['b', draft()] },
    place(placing('a', 3))
  ])
  t.match(outcomes, [
    { value: { id: 'a' } },
    { value: { outcome: 'placed' } },
    { failure: { code: 'order-refused' } },
    { failure: { kind: 'unexpected', message: 'refused' } },
    { value: { id: 'b' } },
    { value: { outcome: 'placed' } }
  ])
  t.match(run([place(placing('a', 1))]), [{ value: { outcome: 'placed' } }], 'the next batch is whole')
  const store = await openSqliteStore({ path, currency: shopCurrency })
  t.teardown(() => store.close())
  t.equal(await onHand(store, 'a'), '5')
  t.equal((await store.orders({ limit: 10 })).items.length, 3)
  t.same(
    (await store.products({ limit: 10, q: 'b' })).items.map(({ id }) => id),
    ['b'],
    'the words of a product are found once'
  )
  const types = (await store.eventHeads({ audience: { types: ['order-placed', 'product-created'] }, limit: 10 })).map(({ type }) => type)
  t.same(types, ['product-created', 'order-placed', 'product-created', 'order-placed', 'order-placed'])
})
