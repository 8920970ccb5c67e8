import t from 'tap'
import { build, orderXml } from '../build.ts'
import { ask, listening, message, Wire } from '../http/wire.ts'
import { until } from './served.ts'

const head = 'POST /order HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/xml\r\n'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

t.test('connections', async (t) => {
  const { app } = await build(t, { settings: { BODY_LIMIT: '65536' } })
  await listening(app)

  t.test('an HTTP/1.0 client needs no Host, gets no chunks, and a closed connection (RFC 9112 9.3)', async (t) => {
    const wire = await Wire.open(t, app)
    const answer = await wire.send('GET /products HTTP/1.0\r\n\r\n').answer()
    t.match(answer, { status: 200, headers: { connection: 'close' } })
    t.notOk('transfer-encoding' in answer.headers)
    t.equal(await wire.rest(), '')
  })

  t.test('an offer to change the protocol is passed over (RFC 9110 7.8)', async (t) => {
    for (const upgrade of ['h2c', 'websocket']) {
      const wire = await Wire.open(t, app)
      t.equal((await wire.send(message('GET /products', { connection: 'upgrade', upgrade })).answer()).status, 200)
      t.equal((await wire.send(message('GET /products')).answer()).status, 200)
    }
  })

  t.test('a request that offers to change the protocol is answered when it was sent ahead, too', async (t) => {
    const wire = await Wire.open(t, app)
    wire.send(message('GET /product/ABC-1') + message('GET /products', { connection: 'upgrade', upgrade: 'h2c' }))
    t.match((await wire.answer()).body, /ABC-1/)
    t.match((await wire.answer()).body, /<products/)
    t.equal((await wire.send(message('GET /products')).answer()).status, 200)
  })

  t.test('bytes that are no request, after an offer to change the protocol, harm nobody else', async (t) => {
    const offering = { connection: 'upgrade', upgrade: 'h2c' }
    const chunks = { ...offering, 'transfer-encoding': 'chunked' }
    for (const [offer, rest] of [
      [message('GET /products', offering), 'x'],
      [message('GET /products', offering), '\0\r\n\r\n'],
      [message('GET /products', offering), `GET /${'a'.repeat(70_000)}`],
      [message('POST /products', chunks), 'Z\r\n']
    ] as const) {
      for (const pieces of [[offer + rest], [offer, rest], [offer + rest, message('GET /products')]]) {
        const wire = await Wire.open(t, app)
        for (const piece of pieces) {
          wire.send(piece)
          // The service has read it by then.
          t.equal((await ask(t, app, message('GET /product/ABC-1'))).status, 200)
        }
        wire.abort()
      }
    }
  })

  t.test('pipelined requests are answered in order, also when a later one is broken (RFC 9112 9.3.2)', async (t) => {
    const wire = await Wire.open(t, app)
    const order = message('POST /order', { 'content-type': 'application/xml' }, orderXml())
    wire.send(`${order}${message('GET /product/ABC-1')}${message('GET /nothing')}${order}${message('HEAD /products')}garbage\r\n\r\n`)
    const statuses = []
    for (const method of ['POST', 'GET', 'GET', 'POST', 'HEAD', '']) statuses.push((await wire.answer(method)).status)
    t.same(statuses, [201, 200, 404, 201, 200, 400])
    t.equal(await wire.rest(), '')
  })

  t.test('after a refusal the rest of the body is skipped, and the connection stays open', async (t) => {
    const large = 'x'.repeat(100_000)
    for (const [request, status] of [
      [message('POST /order', { 'content-type': 'application/xml' }, large), 413],
      [`${head}Transfer-Encoding: chunked\r\n\r\n${chunk(large)}0\r\n\r\n`, 413],
      [message('POST /order', { 'content-type': 'image/png' }, 'x'.repeat(60_000)), 415],
      [message('POST /products', { 'content-type': 'application/xml' }, large), 401],
      [message('POST /order', { 'content-type': 'application/xml' }, '<not well-formed'), 400]
    ] as const) {
      const wire = await Wire.open(t, app)
      wire.send(request)
      t.equal((await wire.answer()).status, status)
      t.equal((await wire.send(message('GET /product/ABC-1')).answer()).status, 200, 'the next request is understood')
    }
  })

  t.test(
    'a request that was answered before its body gets no second answer when the body is refused, and nothing is answered after it',
    async (t) => {
      const wire = await Wire.open(t, app)
      wire.send('POST /nothing HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\n')
      t.equal((await wire.answer()).status, 404)
      wire.send(`${chunk('x').repeat(400)}0\r\n\r\n${message('GET /products')}`)
      t.equal(await wire.rest(), '')
    }
  )

  t.test('a body in chunks of a byte is refused, also where it was refused before and is only discarded', async (t) => {
    const bytes = chunk('x').repeat(5_000)
    const post = (type: string) =>
      `POST /order HTTP/1.1\r\nHost: shop.example\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const order = await Wire.open(t, app)
    order.send(post('application/xml')).send(bytes)
    t.match(await order.answer(), { status: 400, body: /too many chunks/ })
    const image = await Wire.open(t, app)
    t.equal((await image.send(post('image/png')).answer()).status, 415)
    for (const wire of [order, image])
      await wire
        .send(bytes)
        .rest()
        .catch(() => undefined)
    t.equal((await ask(t, app, message('GET /product/ABC-1'))).status, 200, 'the service goes on')
  })

  t.test('a client that goes on sending after a refusal is cut off', async (t) => {
    const wire = await Wire.open(t, app)
    wire.send(`${head}Transfer-Encoding: chunked\r\n\r\n`)
    for (let i = 0; i < 10; i++) wire.send(chunk('x'.repeat(60_000)))
    t.equal((await wire.answer()).status, 413)
    const ended = wire.rest().then(
      () => 'closed',
      (error: NodeJS.ErrnoException) => error.code
    )
    t.match(await ended, /^(closed|ECONNRESET|EPIPE)$/)
  })
})

t.test('a request that was refused before it was whole is not carried out when its rest arrives (RFC 9110 15.5.9)', async (t) => {
  const { app, store } = await build(t)
  await listening(app)
  const begun: (string | undefined)[] = []
  app.server.on('request', ({ method }) => begun.push(method))
  const body = orderXml()
  for (const before of ['', message('GET /product/ABC-1')]) {
    const wire = await Wire.open(t, app)
    wire.send(`${before}${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
    if (before !== '') t.equal((await wire.answer()).status, 200)
    await until(() => begun.at(-1) === 'POST', 'the request has begun')
    // The time-out ends only this request: a busy machine may take longer for the others.
    const { headersTimeout, requestTimeout } = app.server
    Object.assign(app.server, { headersTimeout: 1, requestTimeout: 1 })
    t.match(await wire.answer(), { status: 408, headers: { connection: 'close' } })
    Object.assign(app.server, { headersTimeout, requestTimeout })
    wire.send(body.slice(10)).send(message('POST /order', { 'content-type': 'application/xml' }, body))
    t.equal(await wire.rest().catch(() => ''), '', 'nothing more is answered')
    begun.length = 0
  }
  const wire = await Wire.open(t, app)
  wire.send(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk(body)}broken\r\n`)
  t.equal((await wire.answer()).status, 400)
  wire.send('0\r\n\r\n')
  await wire.rest().catch(() => '')
  t.equal((await store.orders({ limit: 10 })).items.length, 0)
})

t.test('a body of 201 small chunks is refused', async (t) => {
  const { app } = await build(t)
  await listening(app)
  const chunks = [...orderXml().padEnd(201)].map(chunk).join('')
  t.match(await ask(t, app, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`), { status: 400, body: /too many chunks/ })
})

t.test('a body in small chunks that are few, or large enough, is read', async (t) => {
  const { app } = await build(t)
  await listening(app)
  const note = `<note>${'x'.repeat(3_987)}</note>`
  for (const [name, size, text] of [
    ['few', 1, orderXml().padEnd(200)],
    ['large enough', 80, orderXml(undefined, note.repeat(40))]
  ] as const) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => chunk(text.slice(i * size, (i + 1) * size))).join('')
    t.match(await ask(t, app, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`), { status: 201, body: /order id/ }, name)
  }
})

t.test('pipelined requests are handled one at a time, and in order (RFC 9112 9.3.2)', async (t) => {
  const { app, store } = await build(t)
  const { product } = store
  let most = 0
  let now = 0
  store.product = async (...given) => {
    now += 1
    most = Math.max(most, now)
    await new Promise(setImmediate)
    now -= 1
    return product.apply(store, given)
  }
  await listening(app)
  const wire = await Wire.open(t, app)
  const order = message('POST /order', { 'content-type': 'application/xml' }, orderXml())
  wire.send(`${message('GET /product/ABC-1').repeat(60)}${order.repeat(2)}${message('GET /nothing')}`)
  const statuses = []
  for (let i = 0; i < 63; i++) statuses.push((await wire.answer()).status)
  t.same(statuses, [...Array(60).fill(200), 201, 201, 404])
  t.equal(most, 1)
  t.equal((await wire.send(message('GET /product/ABC-1')).answer()).status, 200, 'the connection goes on')

  t.test('if more than a hundred requests are sent ahead, the first are answered and the last answer closes the connection', async (t) => {
    const wire = await Wire.open(t, app)
    wire.send(message('GET /product/ABC-1').repeat(400))
    for (let i = 0; i < 100; i++) t.equal((await wire.answer()).headers['connection'], 'keep-alive')
    t.equal((await wire.answer()).headers['connection'], 'close')
    t.equal(await wire.rest().catch(() => ''), '')
  })

  t.test('a client that sends ahead and goes away leaves nothing behind', async (t) => {
    const wire = await Wire.open(t, app)
    wire.send(order.repeat(20))
    await wire.answer()
    wire.abort()
    while (!(await app.metrics.read()).includes('http_requests_in_flight 0\n')) await new Promise((resolve) => setTimeout(resolve, 20))
    t.same(app.unanswered(), [])
  })
})
