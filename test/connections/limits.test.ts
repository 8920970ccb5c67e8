import type { Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import Fastify from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'
import { readConfig } from '../../config.ts'
import limits from '../../plugins/limits.ts'
import { blockThread } from '../block-thread.ts'
import { build, orderXml } from '../build.ts'
import { ask, listening, message, Wire } from '../http/wire.ts'
import { until } from './served.ts'

const after = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

t.test('sizes', async (t) => {
  const { app, store } = await build(t, {
    settings: { BODY_LIMIT: '5000', MAX_ORDER_ITEMS: '3', MAX_HEADERS: '20', MAX_HEADER_SIZE: '8192' }
  })
  await listening(app)
  const post = (body: string) => ask(t, app, message('POST /order', { 'content-type': 'application/xml' }, body))

  t.test('a body of more than BODY_LIMIT is 413, with Content-Length or in chunks (RFC 9110 15.5.14)', async (t) => {
    const padded = (length: number) => orderXml().replace('>', `>${' '.repeat(length - orderXml().length)}`)
    t.equal((await post(padded(5000))).status, 201, 'as large as it may be')
    const refused = await post(padded(5001))
    t.match(refused, { status: 413, body: /5000 bytes/ })
    const large = padded(6000)
    const head = { 'content-type': 'application/xml', 'transfer-encoding': 'chunked' }
    const chunked = (line: string) => `${message(line, head)}${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`
    t.match(await ask(t, app, chunked('POST /order')), { status: 413, body: /5000 bytes/ })
    for (const put of [message('PUT /order/none', { 'content-type': 'application/xml' }, large), chunked('PUT /order/none')])
      t.match(await ask(t, app, put), { status: 413, body: /5000 bytes\. What the service itself manages/ })
    t.equal((await store.orders({ limit: 10 })).items.length, 1)
  })

  t.test('an order of more than MAX_ORDER_ITEMS is 422', async (t) => {
    const items = (count: number) =>
      `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'.repeat(count)}</purchase-order>`
    t.same([(await post(items(3))).status, (await post(items(4))).status], [201, 422])
  })

  t.test('headers of more than MAX_HEADER_SIZE are 431 (RFC 6585 5)', async (t) => {
    t.equal((await ask(t, app, message('GET /products', { cookie: 'c'.repeat(7000) }))).status, 200)
    for (const length of [8192, 20_000, 70_000]) {
      const answer = await ask(t, app, message('GET /products', { cookie: 'c'.repeat(length) }))
      t.match(answer, { status: 431, headers: { 'content-type': 'application/problem+xml', connection: 'close' } }, `${length} bytes`)
    }
  })

  t.test('a HEAD that the parser refuses gets no content (RFC 9110 9.3.2)', async (t) => {
    for (const [request, status] of [
      [`HEAD / HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(17_000)}\r\n\r\n`, 431],
      ['HEAD x HTTP/1.1\r\n\r\n', 400]
    ] as const) {
      const wire = await Wire.open(t, app)
      const answer = await wire.send(request).rest()
      t.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*\\r\\nContent-Length: [1-9]\\d*\\r\\n[^]*\\r\\n\\r\\n$`))
      t.notMatch(answer, '<problem')
    }
  })

  t.test('more than MAX_HEADERS fields are 431: none is silently left out', async (t) => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`x-${i}`, '1']))
    t.equal((await ask(t, app, message('GET /products', fields(20)))).status, 200)
    for (const count of [21, 22, 100])
      t.match(
        await ask(t, app, message('GET /products', fields(count))),
        { status: 431, body: /problems\/headers-too-large/ },
        String(count)
      )
    const late = await ask(t, app, message('GET /product/ABC-1', { ...fields(20), 'if-match': '"x"' }))
    t.equal(late.status, 431, 'a condition after the last that counts is not overlooked')
  })
})

t.test('a request that does not arrive is 408, and the connection is closed (RFC 9110 15.5.9)', async (t) => {
  const { app, store } = await build(t, { settings: { HEADERS_TIMEOUT: '1', REQUEST_TIMEOUT: '2' } })
  await listening(app)
  const head = 'POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/xml\r\nContent-Length: 1000\r\n'
  const slow = ['GET /products HTTP/1.1\r\nHost: a\r\nX: ', head, `${head}\r\n<purchase-order>`]
  await Promise.all(
    slow.map(async (start) => {
      const wire = await Wire.open(t, app)
      const dripping = setInterval(() => wire.send('x'), 200)
      const answer = await wire
        .send(start)
        .answer()
        .finally(() => clearInterval(dripping))
      t.match(answer, { status: 408, headers: { 'content-type': 'application/problem+xml', connection: 'close' } }, start.slice(-20))
      t.match(answer.body, 'request-timeout')
      await wire.rest().catch(() => '')
    })
  )
  t.equal((await store.orders({ limit: 10 })).items.length, 0)
  // A busy machine may take longer than a second for this one.
  Object.assign(app.server, { headersTimeout: 0, requestTimeout: 0 })
  t.equal((await ask(t, app, message('GET /products'))).status, 200)
})

t.test('an idle connection stays open for KEEP_ALIVE_TIMEOUT', async (t) => {
  const { app } = await build(t, { settings: { KEEP_ALIVE_TIMEOUT: '600' } })
  await listening(app)
  const accepted = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
  const wire = await Wire.open(t, app)
  const socket = await accepted
  for (let requests = 0; requests < 2; requests++) {
    t.match(await wire.send(message('GET /products')).answer(), {
      status: 200,
      headers: { connection: 'keep-alive', 'keep-alive': 'timeout=600' }
    })
  }
  await until(() => app.connections.pendingResponses.length === 0, 'the response is sent')
  // Newer versions of Node wait a second longer than they tell the client.
  t.ok([600_000, 601_000].includes(socket.timeout ?? 0), `it may be idle for ${socket.timeout} milliseconds`)
  socket.emit('timeout')
  t.equal(await wire.rest(), '')
})

t.test('connections over MAX_CONNECTIONS are closed at once, and there is room again when one goes', async (t) => {
  const { app } = await build(t, { settings: { MAX_CONNECTIONS: '3' } })
  await listening(app)
  const wires = []
  for (let i = 0; i < 3; i++) {
    const wire = await Wire.open(t, app)
    t.equal((await wire.send(message('GET /health/live')).answer()).status, 200)
    wires.push(wire)
  }
  const fourth = await Wire.open(t, app)
  t.equal(
    await fourth
      .send(message('GET /health/live'))
      .rest()
      .catch(() => ''),
    '',
    'nothing is answered'
  )
  t.equal((await wires[0]?.send(message('GET /health/live')).answer())?.status, 200, 'the others are served')
  wires[1]?.end()
  await wires[1]?.rest()
  t.equal((await ask(t, app, message('GET /health/live'))).status, 200)
})

t.test('a slow start is no overload', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(fp(async () => {}, { name: 'problems' }))
  await app.register(limits, { config: readConfig({ OVERLOAD_DELAY: '50' }) })
  await app.register(async () => {
    blockThread(1_200)
    await after(20)
  })
  await app.ready()
  t.equal(app.isOverloaded(), false)
})

t.test('while the event loop is late, requests are 503 with Retry-After, and health is answered (RFC 9110 15.6.4)', async (t) => {
  const { app } = await build(t, { settings: { OVERLOAD_DELAY: '50' } })
  const busyUntil = Date.now() + 120_000
  let last = { statusCode: 0, headers: {} as Record<string, unknown>, body: '' }
  let live = 0
  while (Date.now() < busyUntil && last.statusCode !== 503) {
    blockThread(200)
    await new Promise(setImmediate)
    last = await app.inject('/products')
    live = (await app.inject('/health/live')).statusCode
  }
  t.match(last, {
    statusCode: 503,
    headers: { 'content-type': 'application/problem+xml', 'retry-after': /^\d+$/, 'cache-control': 'no-store' },
    body: /overloaded/
  })
  t.equal(live, 200)
  // A busy machine may never be as quick as this.
  const histogram = Object.getPrototypeOf(Object.getPrototypeOf(monitorEventLoopDelay()))
  t.intercept(histogram, 'mean', { get: () => 20e6 })
  for (let i = 0; i < 400 && last.statusCode === 503; i++) {
    await after(250)
    last = await app.inject('/products')
  }
  t.equal(last.statusCode, 200, 'and it recovers')
})
