import t from 'tap'
import { build, orderXml } from '../build.ts'
import { ask, listening, message } from './wire.ts'

t.test('HEAD answers what GET would, without the content (RFC 9110 9.3.2)', async (t) => {
  const { app, key } = await build(t, { products: { 'ABC-1': {}, 'ABC-2': {} } })
  const routes: string[] = []
  await listening(app)
  const seller = await key('Shop', 'catalogue', 'fulfilment', 'order')
  const placed = await ask(t, app, message('POST /order', { 'content-type': 'application/xml' }, orderXml()))
  const order = placed.headers['location'] ?? ''
  routes.push(
    '/',
    '/products',
    '/products?limit=1',
    '/product/ABC-1',
    '/product/ABC-1/stock',
    order,
    `${order}/status`,
    `${order}/shipments`,
    `${order}/shipments?limit=1`,
    '/orders',
    '/events?limit=1',
    '/webhooks',
    '/schemas/product.xsd'
  )
  routes.push('/problems/not-found', '/openapi.json', '/docs', '/health/live', '/health/ready', '/public/shop.css')
  routes.push('/docs/orders', '/docs/nothing', '/nothing', '/product/NOPE', '/products?limit=0', '/order?nope=1')

  /** The header fields that differ from one answer to the next. */
  const own = ['date', 'x-request-id']
  for (const path of routes) {
    for (const accept of ['application/xml', 'text/html', 'application/json', 'image/png']) {
      const headers = { accept, ...seller }
      const got = await ask(t, app, message(`GET ${path}`, headers))
      const head = await ask(t, app, message(`HEAD ${path}`, headers))
      const compared = ({ status, headers: all }: typeof got) => [
        status,
        Object.entries(all)
          .filter(([name]) => !own.includes(name))
          .sort()
      ]
      t.same(compared(head), compared(got), `${path} as ${accept}`)
      if (got.body !== '') t.equal(head.headers['content-length'], String(Buffer.byteLength(got.body)))
    }
  }

  const blank = await ask(t, app, message('HEAD /order', { accept: 'application/xml' }))
  t.match(blank, { status: 200, headers: { 'content-type': 'application/xml; charset=utf-8', 'content-length': /\d+/ } })
})
