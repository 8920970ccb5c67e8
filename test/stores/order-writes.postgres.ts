/** The rules of orders on the transactions themselves, one command each, without the threads and batches around them. */

import t from 'tap'
import { decimal } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import type { Placed, Store } from '../../domain/store.ts'
import { Database } from '../../stores/postgres/database.ts'
import type { OrderCommand } from '../../stores/postgres/order-commands.ts'
import { makeOrderWrites } from '../../stores/postgres/order-writes.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { ruleOn } from './contract.ts'
import { largeContract } from './contract-large.ts'
import { orderContract } from './contract-orders.ts'
import { placingContract } from './contract-placing.ts'
import { postgresFor } from './embedded.ts'
import { item, placing, purchase, shopCurrency, stocked } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'

const server = await postgresFor(t)

async function open(): Promise<Store> {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  const database = new Database(url, 2)
  const write = makeOrderWrites(database, shopCurrency, 'order')
  async function run<Written extends Placed | Order>(command: OrderCommand): Promise<Written> {
    const [outcome] = await write([command])
    if (outcome && 'value' in outcome) return outcome.value as Written
    throw outcome && 'error' in outcome ? outcome.error : new Error('the first command of a batch is never postponed')
  }
  return {
    ...store,
    placeOrder: (...args) => run({ verb: 'placeOrder', args }),
    changeOrder: (...args) => run({ verb: 'changeOrder', args }),
    setOrderStatus: (...args) => run({ verb: 'setOrderStatus', args }),
    async close() {
      await database.close()
      await store.close()
    }
  }
}

const rule = ruleOn(t, open)
placingContract(rule)
orderContract(rule)
largeContract(rule)

t.test('one transaction changes few large orders, whatever is sent: the rest is postponed with its weight', async (t) => {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  const database = new Database(url, 2)
  t.teardown(async () => {
    await database.close()
    await store.close()
  })
  await store.createProduct('a', stocked(1_000_000))
  const many = purchase(Array.from({ length: 5_000 }, () => item('a')))
  const { order: large } = await store.placeOrder({ order: many, status: 'accepted' })
  const { order: small } = await store.placeOrder(placing('a'))
  const write = makeOrderWrites(database, shopCurrency, 'order')
  const status = (id: string, note: string): OrderCommand => ({ verb: 'setOrderStatus', args: [id, 'accepted', {}, { details: { note } }] })
  const ship: OrderCommand = { verb: 'shipOrder', args: [large.id, { items: [{ line: 1, quantity: decimal('1') }] }, {}] }
  const place: OrderCommand = { verb: 'placeOrder', args: [placing('a')] }
  const outcomes = await write([
    status(small.id, 'soon'),
    status(large.id, 'soon'),
    status(large.id, 'later'),
    ship,
    place,
    status(small.id, 'later')
  ])
  t.match(outcomes, [{ value: { id: small.id } }, { value: { id: large.id } }, {}, {}, { postponed: 0 }, {}])
  const weights = outcomes.map((outcome) => ('postponed' in outcome ? outcome.postponed : undefined))
  t.ok(Number(weights[2]) > 2_000 && Number(weights[3]) > 2_000 && Number(weights[5]) < 5, `${weights}`)
  t.match(await store.order(large.id), { version: 2 })
  t.match(await write([ship, place]), [{ value: { replayed: false } }, { postponed: 0 }])
  t.match(await store.order(large.id), { version: 3 })
  const contents = 'SELECT count(*)::int AS kept FROM event WHERE subject = $1 AND content IS NOT NULL'
  t.match(await database.query(contents, [large.id]), [{ kept: 2 }], 'the event of the last change has no content of its own')
})
