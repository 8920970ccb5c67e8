import t from 'tap'
import { add, compare, type Decimal, decimal, zero } from '../../domain/money.ts'
import { isActive } from '../../domain/order.ts'
import { build, draft, orderXml, type Shop, xml } from '../build.ts'

/** Small, seeded and good enough to mix operations: a failure can be run again by its seed (Mulberry32). */
function randomness(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const products = ['A', 'B', 'C', 'D']
const start = decimal('40')

async function heldByOrders({ store }: Shop): Promise<Map<string, Decimal>> {
  const held = new Map<string, Decimal>()
  for (let after: string | undefined; ; ) {
    const page = await store.orders({ limit: 100, ...(after === undefined ? {} : { after }) })
    for (const { id } of page.items) {
      const order = await store.order(id)
      if (!isActive(order.status)) continue
      for (const { productId, quantity } of order.items) held.set(productId, add(held.get(productId) ?? zero, quantity))
    }
    if (page.next === undefined) return held
    after = page.next
  }
}

t.test('no sequence of concurrent calls loses an update, oversells or duplicates an order', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 100_000)
  t.comment(`SEED=${seed}`)
  const random = randomness(seed)
  const shop = await build(t, { products: Object.fromEntries(products.map((id) => [id, { onHand: start }])) })
  const { app } = shop
  const seller = await shop.key('ERP', 'fulfilment', 'catalogue')
  const orders: string[] = []
  const seen = new Map<number, number>()

  const some = () => Object.fromEntries(products.filter(() => random(2) === 0).map((id) => [id, 1 + random(4)]))
  const pick = () => orders[random(orders.length)] ?? '/order/none'
  const noted = <T extends { statusCode: number }>(response: T): T => {
    seen.set(response.statusCode, (seen.get(response.statusCode) ?? 0) + 1)
    return response
  }

  const place = async () => {
    const wanted = { [products[random(4)] ?? 'A']: 1, ...some() }
    const keyed = random(3) === 0 ? { 'idempotency-key': `one of twenty keys ${random(20)}` } : {}
    const placed = noted(await app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...keyed }, payload: orderXml(wanted) }))
    if (placed.statusCode === 201) orders.push(String(placed.headers['location']))
  }
  const change = async () => {
    const url = pick()
    const wanted = { A: 1, ...some() }
    const { headers } = await app.inject(url)
    noted(await app.inject({ method: 'PUT', url, headers: { ...xml, 'if-match': String(headers['etag']) }, payload: orderXml(wanted) }))
  }
  const cancel = async () => {
    noted(await app.inject({ method: 'DELETE', url: pick() }))
  }
  const ship = async () => {
    const url = `${pick()}/status`
    const { headers } = await app.inject({ url, headers: seller })
    const payload = '<order-status><status>shipped</status></order-status>'
    noted(await app.inject({ method: 'PUT', url, headers: { ...xml, ...seller, 'if-match': String(headers['etag']) }, payload }))
  }
  const operations = [place, place, place, change, change, cancel, ship]
  for (let round = 0; round < 25; round++) {
    await Promise.all(Array.from({ length: 16 }, () => operations[random(operations.length)]?.()))
  }

  t.ok(
    ['201', '200', '409', '412'].every((status) => seen.has(Number(status))),
    `answers: ${JSON.stringify([...seen])}`
  )
  t.ok([...seen.keys()].every((status) => status < 500))
  const held = await heldByOrders(shop)
  for (const id of products) {
    const { onHand } = await shop.store.stock(id)
    t.ok(compare(onHand, zero) >= 0, `${id} is not oversold`)
    t.equal(compare(add(onHand, held.get(id) ?? zero), start), 0, `${id}: stock at the start = stock now + quantities in live orders`)
  }
  const known = new Set(orders)
  t.equal((await shop.store.orders({ limit: 1000 })).items.length, known.size, 'every order was answered, and none is there twice')
})

t.test('50 clients that create one product at once make it once', async (t) => {
  const shop = await build(t)
  const created = await Promise.allSettled(Array.from({ length: 50 }, () => shop.store.putProduct('NEW', draft(), { exists: false })))
  t.equal(created.filter(({ status }) => status === 'fulfilled').length, 1)
})
