import { cpSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { hashKey } from '../http/credentials.ts'
import { openStore } from '../stores/open.ts'
import { draft, orderXml, xml } from './build.ts'
import { compile } from './cli/compile.ts'
import { runServer } from './run-server.ts'

t.test('a service that runs needs none of its files: every page is there after they are gone', async (t) => {
  const folder = t.testdir()
  // A copy: the tests share the build itself.
  cpSync(dirname(await compile()), join(folder, 'build'), { recursive: true })
  const built = join(folder, 'build', 'dist')
  const url = `sqlite:${join(folder, 'shop.db')}`
  const { base, end } = await runServer(t, { DATABASE_URL: url }, join(built, 'server.js'))
  rmSync(dirname(built), { recursive: true })

  const store = await openStore(url, 'EUR')
  const key = 'tp_a-key-of-the-seller'
  await store.createKey({ customer: 'ERP', scopes: ['order', 'catalogue', 'fulfilment'], hash: hashKey(key) })
  await store.close()
  const seller = { authorization: `Bearer ${key}` }
  const placed = await fetch(`${base}/order`, { method: 'POST', headers: { ...xml, ...seller }, body: orderXml() })
  t.equal(placed.status, 201)
  const order = placed.headers.get('location') ?? ''

  /** The files and pages that a page links. */
  const links = new Set<string>()
  for (const path of [
    '/',
    '/products',
    '/products?q=bolt',
    '/product/ABC-1',
    '/product/ABC-1/stock',
    '/catalogue',
    '/order',
    '/orders',
    order,
    `${order}/status`,
    '/docs',
    '/docs/orders',
    '/openapi.json',
    '/session',
    '/problems/not-found',
    '/schemas/order.xsd',
    '/schemas/products.xsd',
    '/health/live',
    '/health/ready',
    '/metrics'
  ]) {
    for (const accept of ['text/html', 'application/xml', 'application/json']) {
      const response = await fetch(`${base}${path}`, { headers: { accept: `${accept}, */*;q=0.1`, ...seller } })
      const body = await response.text()
      t.equal(response.status, 200, `${accept} ${path}`)
      for (const [, link = ''] of body.matchAll(/(?:href|src)="(\/(?:public|schemas|problems)\/[^"]+)"/g)) links.add(link)
    }
  }
  t.ok(links.size > 5, `${links.size} links`)
  for (const link of links) t.equal((await fetch(`${base}${link}`)).status, 200, link)

  for (const accept of ['text/html', 'application/xml', 'application/json']) {
    t.equal((await fetch(`${base}/product/none`, { headers: { accept } })).status, 404, accept)
    const refused = await fetch(`${base}/order`, { method: 'POST', headers: { ...xml, accept }, body: '<purchase-order/>' })
    t.equal(refused.status, 422, accept)
  }
  const form = new URLSearchParams({ 'item.1.product-id': 'ABC-1', 'item.1.quantity': '0' })
  t.equal((await fetch(`${base}/order`, { method: 'POST', headers: { accept: 'text/html' }, body: form })).status, 422, 'the form again')
  t.equal(await end('SIGTERM'), 0)
})

t.test('a built service reads what is not ASCII in its code as its sources do', async (t) => {
  const url = `sqlite:${join(t.testdir(), 'shop.db')}`
  const store = await openStore(url, 'EUR')
  await store.createProduct('a', draft({ name: 'Bolt M8x40' }))
  await store.createProduct('b', draft({ name: 'Bolt M8 × 45, 40 pieces' }))
  await store.close()
  const { base } = await runServer(t, { DATABASE_URL: url }, join(await compile(), 'server.js'))
  // A size is one word, whatever its sign.
  for (const q of ['M8 × 40', 'M8×40', 'M8 x 40']) {
    const response = await fetch(`${base}/products?${new URLSearchParams({ q })}`, { headers: { accept: 'application/json' } })
    const { product } = (await response.json()) as { product: readonly { name: string }[] }
    t.strictSame(
      product.map(({ name }) => name),
      ['Bolt M8x40'],
      q
    )
  }
})
