import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, xml } from '../build.ts'
import { remaining } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'
import { products as buyersProducts, send, ublCancellation, ublChange, ublLine, ublOrder } from './buyer-fixtures.ts'
import { countedKey } from './counted-key.ts'

type Headers = Readonly<Record<string, string>>

/** The clock of a shop moves only with timers, so that its minute does not end on a slow machine. */
const settings = { RATE_LIMIT: '60000' }
const products = { 'BOLT-8': { ...buyersProducts['BOLT-8'], onHand: decimal('1000000') } }
const minimal = { prefer: 'return=minimal' }
const changed = `<purchase-order>${'<item><product-id>BOLT-8</product-id><quantity>1</quantity></item>'.repeat(2)}</purchase-order>`
const accepted = '<order-status><status>accepted</status></order-status>'
const tooMuch = '<shipment><item line="1"><quantity>1000</quantity></item></shipment>'

/** A buyer with an order that came as UBL, in a shop with a seller. */
async function setUp(t: Parameters<typeof build>[0], lines: number) {
  stopClock(t).followTimers()
  const shop = await build(t, { products, settings })
  const [buyer, seller] = [await countedKey(shop, 'Acme', 'order'), await countedKey(shop, 'ERP', 'fulfilment')]
  const document = ublOrder({ lines: Array.from({ length: lines }, (_, i) => ublLine({ id: String(i + 1) })) })
  const placed = await send(shop, document, buyer)
  t.equal(placed.statusCode, 201, placed.body.slice(0, 500))
  const order = String(placed.headers['location'])
  const [stored] = (await shop.store.wholeOrders({ limit: 1 })).items
  /** The requests that the stored order counts as. */
  const whole = Math.ceil(JSON.stringify(stored).length / 65_536)

  /** The status of an answer and the cost of its request: what it takes from the rate of its caller. */
  async function ask(
    key: Headers,
    ask: () => Promise<Pick<LightMyRequestResponse, 'statusCode' | 'headers'>>
  ): Promise<{ status: number; cost: number }> {
    const before = await shop.app.inject({ url: '/product/BOLT-8', headers: key })
    const { statusCode: status, headers } = await ask()
    return { status, cost: remaining(before.headers) - remaining(headers) }
  }
  const own = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', part: string, headers: Headers, payload = '') =>
    shop.app.inject({ method, url: `${order}${part}`, headers: { ...xml, ...minimal, ...headers }, ...(payload ? { payload } : {}) })
  return { shop, buyer, seller, order, whole, ask, own, document }
}

for (const [name, lines] of [
  ['a request that reads a large order is charged for its size, also if it is refused or repeated', 1_200],
  ['a request that reads a small order costs 1', 1]
] as const) {
  t.test(name, async (t) => {
    const { shop, buyer, seller, whole, ask, own, document } = await setUp(t, lines)
    t.equal(whole > 2, lines > 1, `${whole}`)
    const small = ublChange({ sequence: '0', lines: [ublLine({ id: 'none', status: '3' })] })
    const stale = { 'if-match': '"other"' }
    const any = { 'if-match': '*' }
    const asked = [
      ['its status', 200, seller, () => own('GET', '/status', seller)],
      ['its answer', 200, buyer, () => own('GET', '/response', buyer)],
      ['a change without a condition', 428, buyer, () => own('PUT', '', buyer, changed)],
      ['a change whose condition fails', 412, buyer, () => own('PUT', '', { ...buyer, ...stale }, changed)],
      ['a cancellation whose condition fails', 412, buyer, () => own('DELETE', '', { ...buyer, ...stale })],
      ['the status that it has', 204, seller, () => own('PUT', '/status', seller, accepted)],
      ['a shipment that is refused', 409, seller, () => own('POST', '/shipments', seller, tooMuch)],
      ['a buyer’s order with its number', lines > 1 ? 409 : 200, buyer, () => send(shop, ublOrder(), buyer)],
      ['a buyer’s change that is refused', 422, buyer, () => send(shop, small, buyer)],
      ['a buyer’s cancellation', 200, buyer, () => send(shop, ublCancellation(), buyer)],
      ['the same again', 200, buyer, () => send(shop, ublCancellation(), buyer)],
      ['a cancellation of a cancelled order', 204, buyer, () => own('DELETE', '', { ...buyer, ...any })],
      ['a change of a cancelled order', 409, buyer, () => own('PUT', '', { ...buyer, ...any }, changed)],
      ['a status that it cannot get', 409, seller, () => own('PUT', '/status', { ...seller, ...any }, accepted)],
      ['the document of a cancelled order', 409, buyer, () => send(shop, document, buyer)]
    ] as const
    for (const [what, expected, key, request] of asked) {
      const { status, cost } = await ask(key, request)
      t.equal(status, expected, what)
      // What the document process does with a large order costs more, depending on the machine.
      if (lines > 1) t.ok(cost >= whole, `${what} costs ${cost}, at least ${whole}`)
      else t.equal(cost, 1, what)
    }
  })
}

t.test('a large order is charged once, and only if it is read', async (t) => {
  const { shop, buyer, seller, order, whole, ask, own } = await setUp(t, 1_200)
  const other = await countedKey(shop, 'Other', 'order')
  const stale = { 'if-match': '"other"' }
  const get = (url: string, headers: Headers) => shop.app.inject({ url, headers })
  const { headers } = await get(`${order}/response`, buyer)
  const known = { 'if-none-match': String(headers['etag']) }
  const expected = [
    [412, whole, buyer, () => own('DELETE', '', { ...buyer, ...stale })],
    [204, whole, seller, () => own('PUT', '/status', seller, accepted)],
    [304, 1, buyer, () => get(`${order}/response`, { ...buyer, ...known })],
    [304, 1, buyer, () => get(order, { ...buyer, 'if-none-match': '*' })],
    [412, 1, buyer, () => get(`${order}/status`, { ...buyer, ...stale })],
    [403, 1, seller, () => own('DELETE', '', { ...seller, ...stale })],
    [404, 1, other, () => own('DELETE', '', { ...other, ...stale })],
    [404, 1, other, () => get(order, other)]
  ] as const
  for (const [i, [status, cost, key, request]] of expected.entries()) t.same(await ask(key, request), { status, cost }, `${i}`)
})

t.test('a page of events or of whole orders is charged for the large orders on it', async (t) => {
  const { shop, buyer, seller, whole, ask } = await setUp(t, 1_200)
  const get = (url: string, headers: Headers) => shop.app.inject({ url, headers })
  for (const [url, key] of [
    ['/events', buyer],
    ['/events', seller],
    ['/orders?with=lines', buyer],
    ['/orders?with=lines', seller]
  ] as const) {
    const json = { ...key, accept: 'application/json' }
    const { status, cost } = await ask(key, () => get(url, json))
    t.equal(status, 200)
    t.ok(cost >= whole, `${url} costs ${cost}, at least ${whole}`)
    const { headers } = await get(url, json)
    t.same(await ask(key, () => get(url, { ...json, 'if-none-match': String(headers['etag']) })), { status: 304, cost: 0 })
  }
  t.same(await ask(seller, () => get('/orders', seller)), { status: 200, cost: 1 })
})

t.test('others’ orders are not read before they are hidden', async (t) => {
  const { shop, order, own } = await setUp(t, 1)
  const other = await countedKey(shop, 'Other', 'order')
  shop.store.order = () => Promise.reject(new Error('the order was read whole'))
  for (const url of [order, `${order}/status`, `${order}/response`]) {
    t.equal((await shop.app.inject({ url, headers: other })).statusCode, 404, url)
  }
  t.equal((await own('PUT', '', { ...other, 'if-match': '*' }, changed)).statusCode, 404)
})
