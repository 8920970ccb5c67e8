/** The rules of orders on the transactions themselves, one command each, without the threads and batches around them. */

import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { isActive, type Order } from '../../domain/order.ts'
import type { Placed, Store } from '../../domain/store.ts'
import { Database, type Queries } from '../../stores/postgres/database.ts'
import type { OrderCommand } from '../../stores/postgres/order-commands.ts'
import { makeOrderWrites } from '../../stores/postgres/order-writes.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { ruleOn } from './contract.ts'
import { largeContract } from './contract-large.ts'
import { orderContract } from './contract-orders.ts'
import { placingContract } from './contract-placing.ts'
import { postgresFor } from './embedded.ts'
import { everyOrder, item, placing, purchase, shopCurrency, stocked } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'
import { openShopOn } from './shop-on-postgres.ts'

const server = await postgresFor(t)

class CountingDatabase extends Database {
  transactions = 0

  override transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    this.transactions += 1
    return super.transaction(work)
  }
}

async function open(): Promise<Store> {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  const database = new Database(url, 2)
  const write = makeOrderWrites(database, shopCurrency, 'order')
  async function run<Written extends Placed | Order>(command: OrderCommand): Promise<Written> {
    const [outcome] = await write([command], 'large')
    if (outcome && 'value' in outcome) return outcome.value as Written
    throw outcome && 'error' in outcome ? outcome.error : new Error('the first command of a batch of large ones is never postponed')
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
  const { store, database } = await openShopOn(t, server, Database, 2)
  await store.createProduct('a', stocked(1_000_000))
  const many = purchase(Array.from({ length: 5_000 }, () => item('a')))
  const placeLarge = async () => (await store.placeOrder({ order: many, status: 'accepted' })).order.id
  const placeSmall = async () => (await store.placeOrder(placing('a'))).order.id
  const [first, second, third] = [await placeLarge(), await placeLarge(), await placeLarge()]
  const [small, smallLater] = [await placeSmall(), await placeSmall()]
  const write = makeOrderWrites(database, shopCurrency, 'order')
  const status = (id: string): OrderCommand => ({ verb: 'setOrderStatus', args: [id, 'accepted', {}, { details: { note: 'soon' } }] })
  const ship = (id: string): OrderCommand => ({ verb: 'shipOrder', args: [id, { items: [{ line: 1, quantity: decimal('1') }] }, {}] })
  const place: OrderCommand = { verb: 'placeOrder', args: [placing('a')] }
  const outcomes = await write([status(small), status(first), status(second), ship(third), place, status(smallLater)], 'large')
  t.match(outcomes, [{ value: { id: small } }, { value: { id: first } }, {}, {}, { postponed: 0 }, {}])
  const weights = outcomes.map((outcome) => ('postponed' in outcome ? outcome.postponed : undefined))
  t.ok(Number(weights[2]) > 2_000 && Number(weights[3]) > 2_000 && Number(weights[5]) < 5, `${weights}`)
  t.match(await store.order(first), { version: 2 })
  t.match(await write([ship(first), place], 'large'), [{ value: { replayed: false } }, { postponed: 0 }])
  t.match(await store.order(first), { version: 3 })
  const contents = 'SELECT count(*)::int AS kept FROM event WHERE subject = $1 AND content IS NOT NULL'
  t.match(await database.query(contents, [first]), [{ kept: 2 }], 'the event of the last change has no content of its own')
})

t.test('in a batch of small commands, a change of a large order is postponed, also if it is alone', async (t) => {
  const { store, database } = await openShopOn(t, server, Database, 2)
  await store.createProduct('a', stocked(10_000))
  const many = purchase(Array.from({ length: 256 }, () => item('a')))
  const placeLarge = async () => (await store.placeOrder({ order: many, status: 'accepted' })).order.id
  const [one, other] = [await placeLarge(), await placeLarge()]
  const write = makeOrderWrites(database, shopCurrency, 'order')
  const cancel = (id: string): OrderCommand => ({ verb: 'setOrderStatus', args: [id, 'cancelled', {}] })
  const place = (): OrderCommand => ({ verb: 'placeOrder', args: [placing('a')] })
  t.match(await write([cancel(one)], 'small'), [{ postponed: Number }])
  const outcomes = await write([cancel(one), place(), cancel(other), place()], 'small')
  t.match(outcomes, [{ postponed: Number }, { value: { outcome: 'placed' } }, { postponed: Number }, { value: { outcome: 'placed' } }])
  const [first] = outcomes
  t.ok(first && 'postponed' in first && first.postponed >= 255, 'so it is large for the queue, too')
  t.match(await write([cancel(one)], 'large'), [{ value: { status: 'cancelled' } }])
})

t.test('changes of one batch give numbers up and take them in one attempt', async (t) => {
  const { store, database } = await openShopOn(t, server, CountingDatabase, 2)
  await store.createProduct('a', stocked(100))
  const write = makeOrderWrites(database, shopCurrency, 'order')
  const numbered = (orderNumber: string) => purchase([item('a')], { orderNumber })
  const place = (orderNumber: string) => ({ order: numbered(orderNumber), customer: 'acme', status: 'accepted' }) as const
  const change = ({ id }: Order, orderNumber: string): OrderCommand => ({ verb: 'changeOrder', args: [id, numbered(orderNumber), {}] })
  const cancel = ({ id }: Order, note?: string): OrderCommand => ({
    verb: 'setOrderStatus',
    args: [id, 'cancelled', {}, note === undefined ? {} : { details: { note } }]
  })
  const newOrder = (orderNumber: string): OrderCommand => ({ verb: 'placeOrder', args: [place(orderNumber)] })
  type Batch = (x: Order, y: Order, z: Order) => { readonly commands: readonly OrderCommand[]; readonly numbers: readonly string[] }
  const batches: Readonly<Record<string, Batch>> = {
    'a change takes what a change gives up': (x, y) => ({ commands: [change(y, 'P'), change(x, 'Y')], numbers: ['P', 'Y', 'Z'] }),
    'changes take in turn what the one before gives up': (x, y, z) => ({
      commands: [change(y, 'P'), change(x, 'Y'), change(z, 'X')],
      numbers: ['P', 'X', 'Y']
    }),
    'a change takes that of an order that is cancelled': (x, y) => ({ commands: [cancel(y), change(x, 'Y')], numbers: ['Y', 'Z'] }),
    'a change takes that of an order that is cancelled with a note': (x, y) => ({
      commands: [cancel(y, 'Sold out'), change(x, 'Y')],
      numbers: ['Y', 'Z']
    }),
    'new orders take what changes give up': (x, y) => ({
      commands: [change(y, 'P'), newOrder('Y'), cancel(x, 'Sold out'), newOrder('X')],
      numbers: ['P', 'X', 'Y', 'Z']
    })
  }
  for (const [title, batch] of Object.entries(batches)) {
    const placed = async (orderNumber: string) => (await store.placeOrder(place(orderNumber))).order
    const [x, y, z] = [await placed('X'), await placed('Y'), await placed('Z')]
    const { commands, numbers } = batch(x, y, z)
    database.transactions = 0
    const outcomes = await write(commands, 'large')
    t.same(
      outcomes.flatMap((outcome) => ('error' in outcome ? [String(outcome.error)] : [])),
      [],
      title
    )
    t.equal(database.transactions, 1, title)
    const active = (await everyOrder(store)).filter(({ status }) => isActive(status))
    t.same(active.map(({ orderNumber }) => orderNumber).toSorted(), numbers, title)
    const ended = [await store.order(x.id), await store.order(y.id), await store.order(z.id)].filter(({ status }) => !isActive(status))
    t.ok(
      ended.every(({ orderNumber }) => orderNumber !== undefined),
      'an order that has ended keeps its number'
    )
    for (const { id } of active) await store.setOrderStatus(id, 'cancelled', {})
  }
})
