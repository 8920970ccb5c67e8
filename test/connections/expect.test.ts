import t from 'tap'
import { build, orderXml } from '../build.ts'
import { ask, listening, message, Wire } from '../http/wire.ts'

t.test('Expect: 100-continue (RFC 9110 10.1.1)', async (t) => {
  const { app, store } = await build(t, { settings: { BODY_LIMIT: '65536' } })
  await listening(app)
  const xml = { 'content-type': 'application/xml' }
  const body = orderXml()
  /** Everything but the body. */
  const head = (path: string, headers: Record<string, string>, length = body.length) =>
    message(`POST ${path}`, { expect: '100-continue', 'content-length': String(length), ...headers })

  t.test('a client that may send gets 100, then sends, then gets the answer', async (t) => {
    for (const expect of ['100-continue', '100-Continue']) {
      const wire = await Wire.open(t, app)
      t.equal((await wire.send(head('/order', { ...xml, expect })).answer()).status, 100, expect)
      t.equal((await wire.send(body).answer()).status, 201)
      t.equal((await wire.send(message('GET /product/ABC-1')).answer()).status, 200, 'and goes on')
    }
  })

  t.test('a request that its headers make invalid is refused without the body, and the connection is closed', async (t) => {
    const rows: readonly [number, string, Record<string, string>, number?][] = [
      [401, '/order', { ...xml, authorization: 'Bearer tp_bad' }],
      [401, '/products', xml],
      [404, '/nothing', xml],
      [405, '/orders', xml],
      [406, '/order', { ...xml, accept: 'image/png' }],
      [413, '/order', xml, 65_537],
      [415, '/order', { 'content-type': 'image/png' }],
      [415, '/order', {}],
      [415, '/order', { ...xml, 'content-encoding': 'gzip' }],
      [400, '/order?%zz', xml]
    ]
    for (const [status, path, headers, length] of rows) {
      const wire = await Wire.open(t, app)
      const answer = await wire.send(head(path, headers, length)).answer()
      t.match(answer, { status, headers: { connection: 'close' } }, `${status} ${path}`)
      t.equal(await wire.rest(), '')
    }
  })

  t.test(
    'an order that was sent ahead of a closing answer is not placed, because its answer could not be sent (RFC 9112 9.6)',
    async (t) => {
      const before = (await store.orders({ limit: 100 })).items.length
      const order = message('POST /order', xml, body)
      for (const [expect, status] of [
        ['other', 417],
        ['100-continue', 415]
      ] as const) {
        const refused = message('POST /order', { expect, 'content-type': 'text/plain' }, 'a')
        const wires = await Promise.all(Array.from({ length: 10 }, async () => (await Wire.open(t, app)).send(refused + order)))
        for (const wire of wires) {
          t.match(await wire.answer(), { status, headers: { connection: 'close' } })
          t.equal(await wire.rest(), '')
        }
      }
      t.equal((await ask(t, app, message('GET /product/ABC-1'))).status, 200, 'whatever was sent before has been handled')
      t.equal((await store.orders({ limit: 100 })).items.length, before)
    }
  )

  t.test('nothing is sent until there is something to say', async (t) => {
    const wire = await Wire.open(t, app)
    wire.send(head('/order', xml))
    t.equal((await wire.answer()).status, 100)
    t.equal((await ask(t, app, message('POST /order', xml, body))).status, 201, 'a later request is answered')
    t.ok(wire.isSilent(), 'the answer waits for the body')
    t.equal((await wire.send(body.slice(0, 10)).send(body.slice(10)).answer()).status, 201)
  })

  t.test('a client that does not wait for the 100 gets both answers', async (t) => {
    const wire = await Wire.open(t, app)
    wire.send(`${head('/order', xml)}${body}`)
    t.same([(await wire.answer()).status, (await wire.answer()).status], [100, 201])
  })

  t.test('an HTTP/1.0 client gets no 100', async (t) => {
    const wire = await Wire.open(t, app)
    wire.send(`${head('/order', xml).replace('HTTP/1.1', 'HTTP/1.0')}${body}`)
    t.equal((await wire.answer()).status, 201)
  })

  t.test('any other expectation is 417', async (t) => {
    const before = (await store.orders({ limit: 100 })).items.length
    for (const expect of ['200-ok', 'meaning="of life"']) {
      const answer = await ask(t, app, message('POST /order', { ...xml, expect }, body))
      t.match(answer, { status: 417, headers: { 'content-type': 'application/problem+xml', connection: 'close' } }, expect)
    }
    t.equal((await store.orders({ limit: 100 })).items.length, before)
  })
})
