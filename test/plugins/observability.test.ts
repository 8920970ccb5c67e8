import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { browserForm, build, orderXml, xml } from '../build.ts'
import { cxmlLine, cxmlOrder, products, send, ublOrder } from '../routes/buyer-fixtures.ts'

/** Passes when the metrics have all of these lines. */
function shows(t: Test, metrics: string, line: string): void {
  t.ok(metrics.split('\n').includes(line), line)
}

t.test('requests are measured by route, never by URL', async (t) => {
  const { app } = await build(t)
  for (const id of ['ABC-1', 'unknown-1', 'unknown-2']) await app.inject(`/product/${id}`)
  for (const url of ['/nowhere-1', '/nowhere-2?q=1']) await app.inject(url)
  for (const method of ['PATCH', 'TRACE' as 'PATCH'] as const) {
    await app.inject({ method, url: '/product/ABC-1' })
    await app.inject({ method, url: '/nowhere-1' })
  }
  const { body } = await app.inject('/metrics')
  shows(t, body, 'http_request_duration_seconds_count{method="GET",route="/product/:product_id",status="200"} 1')
  shows(t, body, 'http_request_duration_seconds_count{method="GET",route="/product/:product_id",status="404"} 2')
  shows(t, body, 'http_request_duration_seconds_count{method="other",route="/product/:product_id",status="405"} 2')
  shows(t, body, 'http_request_duration_seconds_count{method="other",route="unknown",status="404"} 4')
  t.notMatch(body, /nowhere|unknown-1/)
})

t.test('each outcome of an order is there before the first one, at 0, so that its first increase can be seen', async (t) => {
  const { app } = await build(t)
  const { body } = await app.inject('/metrics')
  for (const outcome of ['placed', 'replayed', 'repeated', 'refused', 'failed'])
    shows(t, body, `tradepost_orders_total{outcome="${outcome}"} 0`)
})

t.test('orders are counted by what became of them', async (t) => {
  const { app, key } = await build(t, { products: { 'ABC-1': { backorder: false } } })
  const customer = await key('Customer', 'order')
  const post = (payload: string, headers = {}) => app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload })
  await post(orderXml())
  await post(orderXml(), { 'idempotency-key': 'a-guest-needs-a-long-key' })
  await post(orderXml(), { 'idempotency-key': 'a-guest-needs-a-long-key' })
  const numbered = orderXml({ 'ABC-1': 1 }, '<order-number>7</order-number>')
  await post(numbered, customer)
  await post(numbered, customer)
  await post(numbered, { ...customer, prefer: 'return=minimal' })
  await post(orderXml({ 'ABC-1': 1_000 }))
  await post('<nonsense/>')
  await post('item.1.product-id=ABC-1&item.1.quantity=1', browserForm)
  const { body } = await app.inject('/metrics')
  for (const [outcome, count] of Object.entries({ placed: 4, replayed: 1, repeated: 2, refused: 2 })) {
    shows(t, body, `tradepost_orders_total{outcome="${outcome}"} ${count}`)
  }
})

t.test(
  'orders in buyers’ vocabularies are counted too; dry runs, changes and cancellations are not, also when they are refused',
  async (t) => {
    const shop = await build(t, { products })
    const key = await shop.key('acme', 'order')
    for (const payloadId of ['1@b', '1@b', '2@b']) await send(shop, cxmlOrder({ payloadId }), key)
    await send(shop, cxmlOrder({ payloadId: '3@b', number: 'PO-8', lines: [cxmlLine({ product: 'none' })] }), key)
    await send(shop, cxmlOrder({ payloadId: '4@b', attributes: ' type="update"', lines: [cxmlLine({ quantity: '3' })] }), key)
    await send(shop, cxmlOrder({ payloadId: '5@b', attributes: ' type="delete"', number: 'PO-none' }), key)
    await shop.app.inject({ method: 'POST', url: '/order?dry-run=true', headers: { ...xml, ...key }, payload: orderXml({ none: 1 }) })
    await shop.app.inject({
      method: 'POST',
      url: '/order?dry-run=true',
      headers: { ...xml, authorization: 'Bearer none' },
      payload: orderXml()
    })
    for (let i = 0; i < 2; i++) await send(shop, ublOrder({ number: 'PO-9' }), key)
    const numbered = orderXml({ 'BOLT-8': 1 }, '<order-number>7</order-number>')
    for (const url of ['/order', '/order?dry-run=true'])
      await shop.app.inject({ method: 'POST', url, headers: { ...xml, ...key }, payload: numbered })
    const { body } = await shop.app.inject('/metrics')
    for (const [outcome, count] of Object.entries({ placed: 3, replayed: 1, repeated: 2, refused: 1 })) {
      shows(t, body, `tradepost_orders_total{outcome="${outcome}"} ${count}`)
    }
    shows(t, body, 'tradepost_problems_total{code="invalid-order"} 3')
  }
)

t.test('problems are counted by their type', async (t) => {
  const { app } = await build(t)
  await app.inject('/product/none')
  await app.inject('/nowhere')
  await app.inject('/products?limit=x')
  await app.inject({ method: 'POST', url: '/order', headers: { 'content-type': 'text/plain' }, payload: 'x' })
  await app.inject({ method: 'POST', url: '/order', headers: xml, payload: '<a>' })
  await app.inject({ method: 'DELETE', url: '/products' })
  await app.inject({ url: '/orders' })
  const { body } = await app.inject('/metrics')
  const codes = [
    'product-not-found',
    'not-found',
    'malformed-request',
    'unsupported-media-type',
    'malformed-document',
    'method-not-allowed',
    'unauthenticated'
  ]
  for (const code of codes) shows(t, body, `tradepost_problems_total{code="${code}"} 1`)
})

t.test('a service that is not ready answers no problem', async (t) => {
  const { app, store } = await build(t)
  store.ping = () => Promise.reject(new Error('gone'))
  t.equal((await app.inject('/health/ready')).statusCode, 503)
  t.notMatch((await app.inject('/metrics')).body, /tradepost_problems_total\{/)
})

t.test('requests in flight are counted, also those whose client goes away', async (t) => {
  const { app, store } = await build(t)
  let arrived: () => void = () => undefined
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve
  })
  store.product = () => {
    arrived()
    return new Promise(() => undefined)
  }
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const client = httpRequest({ port, path: '/product/ABC-1' }).on('error', () => undefined)
  const gone = new Promise((resolve) => client.on('close', resolve))
  client.end()
  await arrival
  shows(t, await app.metrics.read(), 'http_requests_in_flight 1')
  client.destroy()
  await gone
  while (!(await app.metrics.read()).includes('http_requests_in_flight 0\n')) await pause(20)
  const read = await app.metrics.read()
  shows(t, read, 'http_requests_in_flight 0')
  shows(t, read, 'http_request_duration_seconds_count{method="GET",route="/product/:product_id",status="aborted"} 1')
})
