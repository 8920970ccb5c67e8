/** Small orders and changes that name large stored orders, on the transactions themselves. */

import type { QueryResultRow } from 'pg'
import t, { type Test } from 'tap'
import { mostInline } from '../../domain/deferred.ts'
import type { Placed, Placing, Store } from '../../domain/store.ts'
import { Database, type Queries } from '../../stores/postgres/database.ts'
import type { OrderCommand } from '../../stores/postgres/order-commands.ts'
import { type DecidingThread, makeOrderWrites } from '../../stores/postgres/order-writes.ts'
import { mostStored } from '../../stores/sizes.ts'
import { execute, postgresFor } from './embedded.ts'
import { item, onHand, placing, purchase, shopCurrency, stocked } from './fixtures.ts'
import { openShopOn } from './shop-on-postgres.ts'

const server = await postgresFor(t)

/** Counts the characters that its transactions read. */
class CountingDatabase extends Database {
  read = 0
  /** Is called with each statement of a transaction. One that gets a promise waits for it. */
  before: (text: string) => Promise<void> | undefined = () => undefined

  override transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return super.transaction(({ query }) =>
      work({
        query: <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => {
          const waiting = this.before(text)
          const rows = waiting ? waiting.then(() => query<Row>(text, values)) : query<Row>(text, values)
          rows.then(
            (rows) => (this.read += JSON.stringify(rows).length),
            () => {}
          )
          return rows
        }
      })
    )
  }
}

const customer = 'acme'
const firstKey = { scope: 's', key: 'k', fingerprint: 'first' }
const numbered = (orderNumber: string, more: Partial<Placing> = {}): OrderCommand => ({
  verb: 'placeOrder',
  args: [{ order: purchase([item('a')], { orderNumber }), status: 'accepted', customer, ...more }]
})
const place = (more: Partial<Placing> = {}): OrderCommand => ({ verb: 'placeOrder', args: [placing('a', 1, more)] })

/** A shop with orders of this many lines, whose numbers are `0` and so on. The first has the key. */
async function open(t: Test, lines: number, count: number) {
  const { url, store, database } = await openShopOn(t, server, CountingDatabase, 2)
  await store.createProduct('a', stocked(1_000_000))
  const order = purchase(
    Array.from({ length: lines }, () => item('a')),
    { orderNumber: '0' }
  )
  await store.placeOrder({ order, status: 'accepted', customer, idempotency: firstKey })
  await execute(
    url,
    `INSERT INTO purchase_order (id, version, customer, order_number, status, placed_at, modified_at, content, item_count, currency, total)
      SELECT gen_random_uuid(), version, customer, number::text, status, placed_at, modified_at,
          replace(content::text, '"orderNumber":"0"', '"orderNumber":"' || number || '"')::json, item_count, currency, total
        FROM purchase_order, generate_series(1, $1) AS number`,
    [count - 1]
  )
  const rows = await execute<{ id: string; size: number }>(url, 'SELECT id, content_size AS size FROM purchase_order ORDER BY seq')
  const { size } = rows[0] ?? { size: 0 }
  async function run(commands: readonly OrderCommand[], thread: DecidingThread) {
    database.read = 0
    const outcomes = await makeOrderWrites(database, shopCurrency, thread)(commands, 'large')
    return { outcomes, read: database.read }
  }
  return { store, url, database, run, ids: rows.map(({ id }) => id), size }
}

async function placeSmall(store: Store): Promise<Placed> {
  return store.placeOrder(placing('a', 1, { customer }))
}

t.test('one transaction reads few large orders that are named: the rest is postponed with its weight', async (t) => {
  const { store, run, ids, size } = await open(t, 5_000, 4)
  const { order: little } = await placeSmall(store)
  const [shipped = ''] = ids
  const shipKey = { ...firstKey, key: 'ship' }
  await store.shipOrder(
    shipped,
    { items: Array.from({ length: 5_000 }, (_, i) => ({ line: i + 1, quantity: item('a').quantity })) },
    {},
    { idempotency: shipKey }
  )
  const needLarge: readonly OrderCommand[] = [
    numbered('1'),
    numbered('2'),
    place({ customer, idempotency: firstKey }),
    { verb: 'shipOrder', args: [little.id, {}, {}, { idempotency: shipKey }] },
    numbered('2', { mode: 'dry-run' })
  ]
  const needLittle: readonly OrderCommand[] = [
    place({ idempotency: { ...firstKey, fingerprint: 'other' } }),
    numbered('1', { customer: 'other' }),
    numbered('1', { idempotency: { ...firstKey, fingerprint: 'other' } }),
    { verb: 'setOrderStatus', args: [little.id, 'accepted', {}] },
    { verb: 'changeOrder', args: [little.id, purchase([item('a')], { orderNumber: '3' }), {}] }
  ]
  const { outcomes, read } = await run([...needLarge, ...needLittle], 'order')
  t.match(outcomes[0], { error: { code: 'order-number-taken' } })
  for (const [i, outcome] of outcomes.slice(1).entries()) {
    const weight = 'postponed' in outcome ? outcome.postponed : Number.NaN
    t.ok(i < needLarge.length - 1 ? weight > 500 : weight < 5, `${i + 1}: ${weight}`)
  }
  t.ok(read < 1.5 * size, `${read} of ${size}`)

  for (const [i, expected] of [
    [1, { error: { code: 'order-number-taken' } }],
    [2, { value: { replayed: true, outcome: 'placed', order: { id: shipped } } }],
    [3, { value: { replayed: true, shipment: { orderId: shipped, itemCount: 5_000 } } }]
  ] as const) {
    const alone = await run(needLarge.slice(i, i + 1), 'order')
    t.match(alone.outcomes, [expected])
    t.ok(alone.read < 1.5 * size, `${i}: ${alone.read} of ${size}`)
  }
  const others = await run(needLittle, 'order')
  t.match(others.outcomes, [
    { error: { code: 'idempotency-key-reused' } },
    { value: {} },
    { error: { code: 'idempotency-key-reused' } },
    {},
    { error: { code: 'order-number-taken', orderId: ids[3] } }
  ])
  t.ok(
    others.read < mostInline,
    `${others.read}: neither the answer of a key, for another request, nor the order that has a number, for a change`
  )
})

t.test('the contents of large orders that change are not read before it is known how many one transaction changes', async (t) => {
  const { store, run, ids, size } = await open(t, 5_000, 6)
  const { order: little } = await placeSmall(store)
  const status = (id: string): OrderCommand => ({ verb: 'setOrderStatus', args: [id, 'accepted', {}, { details: { note: 'soon' } }] })
  const { outcomes, read } = await run([status(little.id), ...ids.map(status)], 'order')
  t.match(outcomes.slice(0, 2), [{ value: { id: little.id } }, { value: { id: ids[0] } }])
  t.ok(outcomes.slice(2).every((outcome) => 'postponed' in outcome && outcome.postponed > 2_000))
  t.ok(read < 1.5 * size, `${read} of ${size}`)
  const own: OrderCommand = { verb: 'changeOrder', args: [ids[1] ?? '', purchase([item('a')], { orderNumber: '1' }), {}] }
  const change = await run([own], 'order')
  t.match(change.outcomes, [{ value: { orderNumber: '1', version: 2 } }])
  t.ok(change.read < 1.5 * size, 'an order that keeps its number is read once')
})

t.test('the serving thread reads no large order', async (t) => {
  const { store, run } = await open(t, 5_000, 2)
  const { outcomes, read } = await run(
    [
      place(),
      numbered('1'),
      place({ idempotency: firstKey }),
      place({ idempotency: { ...firstKey, fingerprint: 'other' } }),
      numbered('1', { idempotency: { ...firstKey, key: 'new' } }),
      place()
    ],
    'serving'
  )
  const placed = { value: { outcome: 'placed' } }
  const large = { error: { name: 'LargeRead', size: Number } }
  t.match(outcomes, [placed, large, large, { error: { code: 'idempotency-key-reused' } }, large, placed])
  t.ok(read < mostInline, `${read}`)
  t.equal(await onHand(store, 'a'), String(1_000_000 - 5_000 - 2))
})

t.test('the serving thread reads few orders that are not so large at once', async (t) => {
  const { run, size } = await open(t, 150, 60)
  t.ok(size < mostInline && 60 * size > 2 * mostStored, `${size}`)
  const commands = Array.from({ length: 60 }, (_, i) => numbered(String(i)))
  const { outcomes, read } = await run(commands, 'serving')
  const done = outcomes.findIndex((outcome) => 'postponed' in outcome)
  t.match(outcomes.slice(0, done), Array(done).fill({ error: { code: 'order-number-taken' } }))
  t.ok(outcomes.slice(done).every((outcome) => 'postponed' in outcome && outcome.postponed > 50))
  t.ok(done > 1 && read < 1.5 * mostStored, `${done}: ${read}`)
})

t.test('an order that changes between its size and its content is looked at again', async (t) => {
  const { run, database, url, ids } = await open(t, 1, 2)
  let reads = 0
  const change = async () => {
    const sql = `UPDATE purchase_order SET version = 2, content = jsonb_set(content::jsonb, '{notes}', '["later"]')::json WHERE id = $1`
    await execute(url, sql, [ids[1]])
  }
  database.before = (text) => (text.startsWith('SELECT o.id, o.content') && reads++ === 0 ? change() : undefined)
  const { outcomes } = await run([numbered('1')], 'serving')
  t.match(outcomes, [{ error: { code: 'order-number-taken', orderId: ids[1] } }])
  t.equal(reads, 2)
})
