import t from 'tap'
import { build } from '../build.ts'

t.test('the entry point leads to everything, in every representation', async (t) => {
  const { app, key } = await build(t, { settings: { BASE_URL: '/shop' } })
  const headers = await key('ERP', 'fulfilment')
  for (const accept of ['application/xml', 'application/json', 'text/html']) {
    const { body } = await app.inject({ url: '/shop/', headers: { accept } })
    for (const path of ['products', 'catalogue', 'order', 'orders', 'events', 'webhooks', 'openapi.json', 'docs']) {
      t.match(body, `"/shop/${path}"`, `${accept}: ${path}`)
      t.equal((await app.inject({ url: `/shop/${path}`, headers })).statusCode, 200, path)
    }
  }
})
