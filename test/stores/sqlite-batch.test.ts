import { join } from 'node:path'
import t from 'tap'
import { decimal } from '../../domain/money.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import type { Placed, Placing } from '../../domain/store.ts'
import type { LaneName } from '../../stores/sizes.ts'
import { makeBatch } from '../../stores/sqlite/batch.ts'
import { type Connection, connectWriter } from '../../stores/sqlite/connection.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import type { WriteCommand } from '../../stores/sqlite/write-verbs.ts'
import { draft, item, onHand, placing, purchase, shopCurrency, stocked } from './fixtures.ts'
import { newSqliteFile } from './new-database.ts'

const place = (order: Placing): WriteCommand => ({ verb: 'placeOrder', args: [order] })

/** Runs batches, of the large lane if no other is named. */
function batchOf(db: Connection) {
  const run = makeBatch(db, shopCurrency, () => {})
  return (commands: readonly WriteCommand[], lane: LaneName = 'large') => run(commands, lane)
}

t.test('a command that fails after it has written is undone whole, and the others of its batch are stored', async (t) => {
  const path = await newSqliteFile(join(t.testdir({}), 'shop.db'))
  const db = connectWriter(path)
  t.teardown(() => db.close())
  // The stock is taken before the order is written.
  db.exec("CREATE TRIGGER refuse BEFORE INSERT ON purchase_order WHEN NEW.customer = 'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END")
  const run = batchOf(db)
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

t.test('one transaction changes few large orders, whatever is sent: the rest is postponed with its weight', async (t) => {
  const db = connectWriter(await newSqliteFile(join(t.testdir({}), 'shop.db')))
  t.teardown(() => db.close())
  const run = batchOf(db)
  const lines = Array.from({ length: 5_000 }, () => item('a'))
  const order = purchase(lines, { orderNumber: 'PO-1' })
  const key = { scope: 's', key: 'k', fingerprint: 'f' }
  run([{ verb: 'createProduct', args: ['a', stocked(1_000_000)] }])
  const [first, second, small] = run([
    place(placing('a', 1, { order, customer: 'acme', idempotency: key })),
    place(placing('a', 1, { order: purchase(lines), customer: 'acme' })),
    place(placing('a', 1, { customer: 'acme' }))
  ]).map((outcome) => ('value' in outcome ? (outcome.value as Placed).order.id : ''))
  const [large = '', other = '', little = ''] = [first, second, small]
  const shipped = (line: number) => ({ items: [{ line, quantity: decimal('1') }] })
  const status = (id: string, note: string): WriteCommand => ({ verb: 'setOrderStatus', args: [id, 'accepted', {}, { details: { note } }] })
  const change = (id: string, document: PurchaseOrder): WriteCommand => ({ verb: 'changeOrder', args: [id, document, {}] })
  const reused = { ...key, fingerprint: 'other' }
  const needLarge: readonly WriteCommand[] = [
    status(other, 'soon'),
    { verb: 'shipOrder', args: [large, shipped(1), {}] },
    change(large, purchase([item('a')])),
    place(placing('a', 1, { order: purchase([item('a')], { orderNumber: 'PO-1' }), customer: 'acme' })),
    place(placing('a', 1, { idempotency: key })),
    { verb: 'setOrderStatus', args: [large, 'cancelled', {}] }
  ]
  const needLittle: readonly WriteCommand[] = [
    status(little, 'soon'),
    place(placing('a')),
    place(placing('a', 1, { customer: 'other', order: purchase([item('a')], { orderNumber: 'PO-1' }) })),
    { verb: 'setOrderStatus', args: ['none', 'cancelled', {}] },
    change(little, purchase([item('a')], { orderNumber: 'PO-1' })),
    place(placing('a', 1, { order: purchase([item('a')], { orderNumber: 'PO-1' }), customer: 'acme', idempotency: reused }))
  ]
  const [done, ...rest] = run([...needLarge, ...needLittle]).map((outcome) => ('postponed' in outcome ? outcome.postponed : 'done'))
  t.equal(done, 'done')
  for (const [i, weight] of rest.entries())
    t.ok(i < needLarge.length - 1 ? Number(weight) > 2_000 : Number(weight) < 5, `${i + 1}: ${weight}`)
  t.match(run(needLittle), [
    { value: {} },
    { value: {} },
    { value: {} },
    { failure: { code: 'order-not-found' } },
    { failure: { code: 'order-number-taken' } },
    { failure: { code: 'idempotency-key-reused' } }
  ])
  for (const [command, failure] of [
    [needLarge[1], undefined],
    [needLarge[3], 'order-number-taken'],
    [needLarge[4], undefined]
  ] as const) {
    const outcomes = run(command ? [command, place(placing('a'))] : [])
    t.match(outcomes[0], failure ? { failure: { code: failure } } : { value: {} })
    t.match(outcomes[1], { postponed: 0 })
  }
})

t.test('in a batch of small commands, a change of a large order is postponed, also if it is alone', async (t) => {
  const db = connectWriter(await newSqliteFile(join(t.testdir({}), 'shop.db')))
  t.teardown(() => db.close())
  const run = batchOf(db)
  run([{ verb: 'createProduct', args: ['a', stocked(10_000)] }])
  const [placed] = run([place(placing('a', 1, { order: purchase(Array.from({ length: 256 }, () => item('a'))) }))])
  const id = placed && 'value' in placed ? (placed.value as Placed).order.id : ''
  const cancel: WriteCommand = { verb: 'setOrderStatus', args: [id, 'cancelled', {}] }
  t.match(run([cancel], 'small'), [{ postponed: Number }])
  const outcomes = run([cancel, place(placing('a')), cancel, place(placing('a'))], 'small')
  t.match(outcomes, [{ postponed: Number }, { value: { outcome: 'placed' } }, { postponed: Number }, { value: { outcome: 'placed' } }])
  const [first] = outcomes
  t.ok(first && 'postponed' in first && first.postponed >= 255, 'so it is large for the queue, too')
  t.match(run([cancel]), [{ value: { status: 'cancelled' } }])
})

t.test('the content of an order that a command names, but does not need, is not read', async (t) => {
  const db = connectWriter(await newSqliteFile(join(t.testdir({}), 'shop.db')))
  t.teardown(() => db.close())
  const run = batchOf(db)
  run([{ verb: 'createProduct', args: ['a', stocked(10)] }])
  const key = { scope: 's', key: 'k', fingerprint: 'f' }
  const order = purchase([item('a')], { orderNumber: 'PO-1' })
  const [, little] = run([
    place(placing('a', 1, { order, customer: 'acme', idempotency: key })),
    place(placing('a', 1, { customer: 'acme' }))
  ]).map((outcome) => ('value' in outcome ? (outcome.value as Placed).order.id : ''))
  db.exec("UPDATE purchase_order SET content = 'no JSON' WHERE order_number = 'PO-1'; UPDATE idempotency SET snapshot = 'no JSON'")
  const outcomes = run([
    { verb: 'changeOrder', args: [little ?? '', order, {}] },
    place(placing('a', 1, { order, customer: 'acme', idempotency: { ...key, fingerprint: 'other' } }))
  ])
  t.match(outcomes, [{ failure: { code: 'order-number-taken' } }, { failure: { code: 'idempotency-key-reused' } }])
})

t.test('that content is not read either when the batch runs again after a failed command', async (t) => {
  const db = connectWriter(await newSqliteFile(join(t.testdir({}), 'shop.db')))
  t.teardown(() => db.close())
  db.exec("CREATE TRIGGER refuse BEFORE INSERT ON purchase_order WHEN NEW.customer = 'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END")
  const run = batchOf(db)
  run([{ verb: 'createProduct', args: ['a', stocked(1_000_000)] }])
  const [placed] = run([place(placing('a', 1, { order: purchase(Array.from({ length: 5_000 }, () => item('a'))) }))])
  const id = placed && 'value' in placed ? (placed.value as Placed).order.id : ''
  const cancel: WriteCommand = { verb: 'setOrderStatus', args: [id, 'cancelled', {}] }
  t.match(run([place(placing('a', 2, { customer: 'refused' })), cancel, place(placing('a')), cancel]), [
    { failure: { message: 'refused' } },
    { value: { status: 'cancelled' } },
    { postponed: 0 },
    { postponed: Number }
  ])
})
