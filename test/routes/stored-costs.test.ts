import t from 'tap'
import { decimal } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import { build, orderXml, xml } from '../build.ts'
import { remaining } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'

type Method = 'POST' | 'PUT'

const plenty = { onHand: decimal('1000000') }
const products = { 'ABC-1': plenty, LONG: { ...plenty, name: 'ж'.repeat(256) } }
const minimal = { ...xml, prefer: 'return=minimal', 'if-match': '*' }

/** A short document of an order whose lines become long, because each has the name of its product. */
function long(lines: number): string {
  return `<purchase-order>${'<item><product-id>LONG</product-id><quantity>1</quantity></item>'.repeat(lines)}</purchase-order>`
}

/** The requests that bytes count as. */
const requests = (bytes: number) => Math.ceil(bytes / 65_536)
const sizeOf = (order: Order) => Buffer.byteLength(JSON.stringify(order))

async function setUp(t: Parameters<typeof build>[0], rate = 60_000) {
  stopClock(t).followTimers()
  const { app, store } = await build(t, { products, settings: { RATE_LIMIT: `${rate}` } })
  // The processor time of the documents differs from machine to machine.
  app.addHook('onRequest', async (request) => {
    request.chargeWork = () => {}
  })
  let [keys, left] = [0, rate]
  return {
    app,
    store,
    newKey: () => ({ 'idempotency-key': `a-key-of-sixteen-${keys++}` }),
    async send(payload: string, headers: Readonly<Record<string, string>> = {}, method: Method = 'POST', url = '/order') {
      const answer = await app.inject({ method, url, headers: { ...minimal, ...headers }, payload })
      const cost = left - remaining(answer.headers)
      left -= cost
      return { status: answer.statusCode, cost, url: String(answer.headers.location) }
    },
    async stored(url: string) {
      return store.order(url.split('/').at(-1) ?? '')
    }
  }
}

for (const [size, lines] of [
  ['that is sent in a small document', 300],
  ['that is sent in a large document', 1_000]
] as const) {
  t.test(`an order ${size} costs a request for each 64 KiB that is stored of it and of its answer`, async (t) => {
    const { send, stored, newKey } = await setUp(t)
    const once = await send(long(lines))
    t.equal(once.status, 201)
    const one = sizeOf(await stored(once.url))
    t.ok(requests(one) > 2, `${one} bytes`)
    t.equal(once.cost, requests(one), `an order of ${one} bytes`)

    const key = newKey()
    const keyed = await send(long(lines), key)
    t.equal(keyed.cost, requests(2 * one), `an order of ${one} bytes with the answer that its key repeats`)
    const again = await send(long(lines), key)
    t.equal(again.url, keyed.url)
    t.ok(again.cost < keyed.cost, `${again.cost} for the same again, which stores nothing`)
  })
}

t.test('an order that is not stored is not charged as stored', async (t) => {
  const { send } = await setUp(t)
  for (const [what, status, url, payload] of [
    ['a dry run', 200, '/order?dry-run=true', long(300)],
    ['an unknown product', 422, '/order', long(300).replace('LONG', 'NONE')],
    ['more than there is', 409, '/order', long(300).replace('>1<', '>1000001<')]
  ] as const) {
    const answer = await send(payload, {}, 'POST', url)
    t.equal(answer.status, status, what)
    t.equal(answer.cost, 1, what)
  }
})

t.test('an order that grows costs a request for each 64 KiB that it then has', async (t) => {
  const { send, stored } = await setUp(t)
  const { url } = await send(orderXml())
  const { status, cost } = await send(long(300), {}, 'PUT', url)
  t.equal(status, 204)
  const size = sizeOf(await stored(url))
  t.equal(cost, requests(size), `${size} bytes`)
})

t.test('usual orders cost 1', async (t) => {
  const { send, newKey } = await setUp(t)
  for (const lines of [1, 20, 100]) {
    const document = long(lines).replaceAll('LONG', 'ABC-1')
    t.equal((await send(document, newKey())).cost, 1, `${lines} lines`)
  }
})

t.test('orders that come together are refused when what others store has used up the rate', async (t) => {
  const { app, store } = await setUp(t, 20)
  const post = () => app.inject({ method: 'POST', url: '/order', headers: minimal, payload: long(500) })
  const answers = await Promise.all(Array.from({ length: 20 }, post))
  const placed = answers.filter(({ statusCode }) => statusCode === 201).length
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))].sort(), [201, 429])
  t.ok(placed < 20 / 2, `${placed} were placed`)
  t.equal((await store.orders({ limit: 100 })).items.length, placed)
  t.match(answers.find(({ statusCode }) => statusCode === 429)?.headers, { 'retry-after': /^\d+$/ })
})
