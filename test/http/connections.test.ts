import t from 'tap'
import { build, orderXml } from '../build.ts'
import { listening, message, Wire } from './wire.ts'

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

  t.test('pipelined requests are answered in order, also when a later one is broken (RFC 9112 9.3.2)', async (t) => {
    const wire = await Wire.open(t, app)
    const order = message('POST /order', { 'content-type': 'application/xml' }, orderXml())
    wire.send(`${order}${message('GET /product/ABC-1')}${message('GET /nothing')}${order}${message('HEAD /products')}garbage\r\n\r\n`)
    const statuses = []
    for (const method of ['POST', 'GET', 'GET', 'POST', 'HEAD', '']) statuses.push((await wire.answer(method)).status)
    t.same(statuses, [201, 200, 404, 201, 200, 400])
    t.equal(await wire.rest(), '')
  })

  t.test('after a refusal the rest of the body is passed over, and the connection goes on', async (t) => {
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

  t.test('who goes on sending after a refusal is cut off', async (t) => {
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
