import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { draft } from '../build.ts'
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

t.test('what a client has not read stays with the service, not in files of nginx', async (t) => {
  const { app, store, port, errorLog } = await buildProxied(t)
  const description = 'x'.repeat(4000)
  for (let batch = 0; batch < 8; batch++) {
    const ids = Array.from({ length: 1000 }, (_, i) => `p${batch}.${i}`)
    await store.importProducts(ids.map((id) => ({ id, draft: draft({ description }) })))
  }
  let sending: Socket | undefined
  app.server.on('request', (_request, { socket }) => {
    sending = socket ?? undefined
  })
  const client = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => client.destroy())
  client.write('GET /catalogue HTTP/1.1\r\nHost: shop\r\n\r\n')
  await new Promise((resolve) => client.once('readable', resolve))
  // The client reads nothing. Then the service either stops sending, or nginx has taken the whole answer.
  let sent = -1
  for (let unchanged = 0; unchanged < 10; await sleep(20)) {
    const now = sending?.bytesWritten ?? 0
    unchanged = now === sent && now > 0 ? unchanged + 1 : 0
    sent = now
  }
  t.ok(sent < 8 * 4000 * 1000, 'the answer is not whole')
  t.notMatch(errorLog(), 'temporary file')
})
