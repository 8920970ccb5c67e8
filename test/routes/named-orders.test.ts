import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { build, type Shop, xml } from '../build.ts'
import { remaining } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'
import { products as buyersProducts, send, ublLine, ublOrder } from './buyer-fixtures.ts'
import { countedKey } from './counted-key.ts'

type Headers = Readonly<Record<string, string>>

/** The clock of a shop moves only with timers, so that its minute does not end on a slow machine. */
const settings = { RATE_LIMIT: '6000' }
const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
const products = { 'ABC-1': { onHand: '1000000' as never, name: 'A long name of a product '.repeat(8) } }

function post({ app }: Shop, headers: Headers, lines: number, { number = 'L-1', query = '' } = {}) {
  const payload = `<purchase-order><order-number>${number}</order-number>${line.repeat(lines)}</purchase-order>`
  return app.inject({ method: 'POST', url: `/order${query}`, headers: { ...xml, prefer: 'return=minimal', ...headers }, payload })
}

/** A caller with a large order that has the number L-1 and came with an Idempotency-Key. */
async function setUp(shop: Shop, lines = 1_500) {
  const key = { ...(await countedKey(shop, 'Acme', 'order')), prefer: 'return=minimal' }
  const once = { ...key, 'idempotency-key': 'once' }
  const placed = await post(shop, once, lines)
  const [summary] = (await shop.store.wholeOrders({ limit: 1 })).items
  const sizes = { sent: 0, stored: JSON.stringify(summary).length }
  let left = remaining(placed.headers)
  /** What a request costs. */
  const costOf = ({ headers }: Pick<LightMyRequestResponse, 'headers'>) => {
    const cost = left - remaining(headers)
    left = remaining(headers)
    return cost
  }
  return { key, once, placed, sizes, costOf }
}

t.test('a small order that names a large stored one costs as much as if it had sent that one', async (t) => {
  stopClock(t).followTimers()
  const shop = await build(t, { products, settings })
  const { key, sizes, costOf } = await setUp(shop)
  const whole = Math.ceil(sizes.stored / 65_536)
  t.ok(whole > 5, `${whole}`)
  for (const query of ['', '?dry-run=true']) {
    const taken = await post(shop, key, 1, { query })
    t.equal(taken.statusCode, 409, taken.body)
    const cost = costOf(taken)
    t.ok(Math.abs(cost - whole) <= 1, `${cost}, not ${whole}`)
  }
  const free = await post(shop, key, 1, { number: 'L-2' })
  t.same([free.statusCode, costOf(free)], [201, 1])
  const small = await post(shop, key, 2, { number: 'L-2' })
  t.same([small.statusCode, costOf(small)], [409, 1], 'one that names a small order costs 1')
  const reused = await post(shop, { ...key, 'idempotency-key': 'once' }, 1)
  t.same([reused.statusCode, costOf(reused)], [422, 1], 'so does another request under the key, for which no order is read')
})

t.test('an order that is repeated costs what it is stored as, once', async (t) => {
  stopClock(t).followTimers()
  const shop = await build(t, { products, settings })
  const { key, once, placed, sizes, costOf } = await setUp(shop)
  for (const headers of [once, key]) {
    const repeated = await post(shop, headers, 1_500)
    t.same([repeated.statusCode, repeated.headers.location], [headers === once ? 201 : 204, placed.headers.location])
    const cost = costOf(repeated)
    t.ok(cost >= Math.floor(sizes.stored / 65_536), `${cost}`)
  }
})

t.test("a buyer's own document that names a large stored order costs as much, too", async (t) => {
  stopClock(t).followTimers()
  const shop = await build(t, {
    products: { ...buyersProducts, 'BOLT-8': { ...buyersProducts['BOLT-8'], onHand: '1000000' as never } },
    settings
  })
  const key = await countedKey(shop, 'Acme', 'order')
  const large = await send(shop, ublOrder({ lines: Array.from({ length: 600 }, (_, i) => ublLine({ id: String(i + 1) })) }), key)
  t.equal(large.statusCode, 201, large.body.slice(0, 500))
  const named = await send(shop, ublOrder(), key)
  t.equal(named.statusCode, 409, named.body.slice(0, 500))
  const { items } = await shop.store.wholeOrders({ limit: 1 })
  const cost = remaining(large.headers) - remaining(named.headers)
  t.ok(cost >= Math.floor(JSON.stringify(items[0]).length / 65_536) && cost > 1, `${cost}`)
})

t.test('the large order that is named is not read without room for it', async (t) => {
  const shop = await build(t, { products, settings: { RATE_LIMIT: 'off' } })
  const { key } = await setUp(shop, 8_000)
  const { placeOrder } = shop.store
  let [reading, refused] = [0, 0]
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  shop.store.placeOrder = async (placing) => {
    if ((placing.mostNamed ?? Number.POSITIVE_INFINITY) > 1_000_000) {
      reading++
      await held
    }
    return placeOrder(placing)
  }
  const asked = Array.from({ length: 60 }, async () => {
    const { statusCode } = await post(shop, key, 1)
    if (statusCode === 503) refused++
    return statusCode
  })
  while (reading + refused < asked.length) await new Promise(setImmediate)
  t.ok(refused > 30, `${refused} refused`)
  letGo()
  t.same([...new Set(await Promise.all(asked))].sort(), [409, 503])
  t.equal((await post(shop, key, 1)).statusCode, 409, 'then there is room again')
})
