import t from 'tap'
import { ask } from '../http/wire.ts'
import { buildProxied } from './nginx.ts'

// Not part of `npm test`, because it needs nginx: npm run test:proxy

t.test(
  'nginx refuses targets and header fields beyond its own limits with a problem, too (RFC 9110 section 15.5.15, RFC 6585 section 5)',
  async (t) => {
    const { send, accessLog } = await buildProxied(t)
    const problem = { headers: { 'content-type': 'application/problem+xml', 'cache-control': 'no-store' } }
    t.match(await send(`/order/${'a'.repeat(20_000)}`), { status: 414, ...problem, body: /<status>414</ })
    const headers = { 'x-large': 'a'.repeat(20_000) }
    t.match(await send('/products', { headers }), { status: 431, ...problem, body: /<status>431</ })
    t.notMatch(await accessLog(), 'aaaa')
  }
)

t.test('the access log and the service have the same id of a request, which no client chooses', async (t) => {
  const { app, send, accessLog } = await buildProxied(t)
  const arrived: unknown[] = []
  app.server.on('request', ({ headers }) => arrived.push(headers['x-request-id']))
  const { headers } = await send('/order', { headers: { 'x-request-id': 'chosen-by-the-client' } })
  const { request } = JSON.parse(await accessLog()) as { request: string }
  t.match(request, /^[0-9a-f]{32}$/)
  t.same([arrived, headers['x-request-id']], [[request], request])
})

t.test('a client of HTTP/1.0 needs no Host field (RFC 9112 section 3.2)', async (t) => {
  const { port } = await buildProxied(t)
  t.match(await ask(t, port, 'GET /product/ABC-1 HTTP/1.0\r\n\r\n'), { status: 200, body: /ABC-1/ })
})

t.test('the path goes through as it was written', async (t) => {
  const { send, sendDirectly } = await buildProxied(t)
  for (const path of [
    '/product/ABC%2D1',
    '/product/a%2Fb',
    '//products',
    '/products/',
    '/products?q=a%20b&limit=2',
    `/products?q=${'a'.repeat(5000)}`
  ]) {
    const [through, direct] = [await send(path), await sendDirectly(path)]
    t.match(through, { status: direct.status, body: direct.body }, path.slice(0, 40))
  }
})
