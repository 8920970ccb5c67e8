import t from 'tap'
import { type Command, senderOf } from '../../stores/commands.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { products as buyersProducts, send, ublCancellation, ublChange, ublLine, ublOrder } from './buyer-fixtures.ts'
import { place } from './feed.ts'

/** Each write that the shop makes from now on, with its sender. */
function watchSenders(shop: Shop, writes: readonly string[]): readonly (readonly [verb: string, sender: string | undefined])[] {
  const seen: [verb: string, sender: string | undefined][] = []
  const verbs = shop.store as unknown as Record<string, (...args: never[]) => Promise<unknown>>
  for (const verb of writes) {
    const run = verbs[verb]
    verbs[verb] = (...args) => {
      seen.push([verb, senderOf({ verb, args } as unknown as Command)])
      return run?.(...args) ?? Promise.reject()
    }
  }
  return seen
}

t.test('every write of an order has its sender, whatever it is sent as', async (t) => {
  const shop = await build(t, { products: buyersProducts })
  const key = await shop.key('Acme', 'order', 'fulfilment')
  const writes = ['placeOrder', 'changeOrder', 'setOrderStatus', 'shipOrder'] as const
  const seen = watchSenders(shop, writes)
  const order = orderXml({ 'BOLT-8': 2 })
  const url = await place(shop, { ...xml, ...key }, order)
  const anyVersion = { ...xml, ...key, 'if-match': '*' }
  const shipped = '<shipment><item line="1"><quantity>1</quantity></item></shipment>'
  const detailed = '<order-status><status>shipped</status><note>All gone</note></order-status>'
  const requests = [
    { method: 'PUT', url, headers: anyVersion, payload: orderXml({ 'BOLT-8': 3 }) },
    { method: 'POST', url: `${url}/shipments`, headers: { ...xml, ...key }, payload: shipped },
    { method: 'PUT', url: `${url}/status`, headers: anyVersion, payload: detailed },
    { method: 'DELETE', url: await place(shop, { ...xml, ...key }, order), headers: key }
  ] as const
  for (const request of requests) t.match(await shop.app.inject(request), { statusCode: /^20[01]$/ }, `${request.method} ${request.url}`)
  for (const document of [ublOrder(), ublChange({ sequence: '1', lines: [ublLine({ quantity: '3', status: '3' })] }), ublCancellation()]) {
    t.match(await send(shop, document, key), { statusCode: /^20[01]$/ })
  }
  t.same(new Set(seen.map(([verb]) => verb)), new Set(writes))
  for (const [verb, sender] of seen) t.equal(sender, 'customer Acme', verb)
})

t.test('every write of a product has its sender', async (t) => {
  const shop = await build(t)
  const key = await shop.key('Acme', 'catalogue')
  const writes = ['createProduct', 'putProduct', 'putStock', 'deleteProduct'] as const
  const seen = watchSenders(shop, writes)
  const product = '<product id="NEW-1"><name>New</name><price currency="EUR">1.00</price></product>'
  const anyVersion = { ...xml, ...key, 'if-match': '*' }
  const requests = [
    { method: 'POST', url: '/products', headers: { ...xml, ...key }, payload: product },
    { method: 'PUT', url: '/product/NEW-1', headers: anyVersion, payload: product.replace('New', 'Newer') },
    { method: 'PUT', url: '/product/NEW-1/stock', headers: anyVersion, payload: '<stock><on-hand>3</on-hand></stock>' },
    { method: 'DELETE', url: '/product/NEW-1', headers: anyVersion }
  ] as const
  for (const request of requests) {
    const { statusCode, body } = await shop.app.inject(request)
    t.match(statusCode, /^20[014]$/, `${request.method} ${request.url}: ${body}`)
  }
  t.same(
    seen,
    writes.map((verb) => [verb, 'customer Acme'])
  )
})
