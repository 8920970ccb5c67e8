import t from 'tap'
import { parses } from '../../domain/deferred.ts'
import { build, type Shop, xml } from '../build.ts'

const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
const orderOf = (lines: number) => `<purchase-order>${line.repeat(lines)}</purchase-order>`

async function placeLarge({ app }: Shop): Promise<string> {
  const response = await app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderOf(2_000) })
  t.equal(response.statusCode, 201, response.body.slice(0, 500))
  return String(response.headers.location)
}

t.test('no large order is parsed in the thread that serves when it is placed, changed, shipped or cancelled', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const { app } = shop
  const seller = await shop.key('ERP', 'fulfilment')
  const parsed: unknown[] = []
  const listen = (length: unknown) => parsed.push(length)
  parses.subscribe(listen)
  t.teardown(() => parses.unsubscribe(listen))
  const order = await placeLarge(shop)
  const { etag } = (await app.inject(order)).headers
  const changed = await app.inject({ method: 'PUT', url: order, headers: { ...xml, 'if-match': String(etag) }, payload: orderOf(1_900) })
  t.equal(changed.statusCode, 200)
  const { headers } = await app.inject({ url: `${order}/status`, headers: seller })
  const shipped = await app.inject({
    method: 'PUT',
    url: `${order}/status`,
    headers: { ...xml, ...seller, 'if-match': String(headers.etag) },
    payload: '<order-status><status>shipped</status></order-status>'
  })
  t.equal(shipped.statusCode, 200, shipped.body)
  t.equal((await app.inject({ method: 'DELETE', url: await placeLarge(shop) })).statusCode, 200)
  t.same(parsed, [])
})
