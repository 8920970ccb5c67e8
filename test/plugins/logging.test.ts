import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { maskSecrets } from '../../logging/options.ts'
import { terminalLog } from '../../logging/terminal.ts'
import { unavailable } from '../../stores/postgres/failures.ts'
import { browserForm, build, orderXml, xml } from '../build.ts'
import { listening, Wire } from '../http/wire.ts'
import { deferred } from '../webhooks/deferred.ts'

/** A log that can be read: what would be on standard output. */
function memory() {
  const lines: string[] = []
  return {
    lines,
    write(line: string) {
      lines.push(line)
    }
  }
}

t.test('no key, cookie, idempotency key or whole order id is in the log of a session, whatever fails', async (t) => {
  const log = memory()
  const { app, store, key } = await build(t, { logTo: log, settings: { LOG_LEVEL: 'trace' } })
  const customer = await key('Customer', 'order', 'catalogue', 'fulfilment')
  const secret = customer.authorization.slice('Bearer '.length)
  const basic = Buffer.from(`me:${secret}`).toString('base64')
  const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, headers = {}, payload?: string) =>
    app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })

  const placed = await send('POST', '/order', { ...xml, 'idempotency-key': 'idempotency-secret' }, orderXml())
  const uri = String(placed.headers['location'])
  const id = uri.split('/').at(-1) ?? ''
  const numbered = await send('POST', '/order', { ...xml, ...customer }, orderXml({ 'ABC-1': 1 }, '<order-number>1</order-number>'))
  const ids = [id, String(numbered.headers['location']).split('/').at(-1) ?? '']
  await send('POST', '/order', { ...xml, ...customer }, orderXml({ 'ABC-1': 2 }, '<order-number>1</order-number>'))
  const signedIn = await send('POST', '/session', browserForm, `key=${secret}`)
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
  for (const headers of [{}, customer, { authorization: `Basic ${basic}` }, { cookie }, { authorization: 'Bearer tp_guessed-key-0001' }]) {
    await send('GET', uri, headers)
    await send('GET', `${uri}/status?x=${id}`, headers)
    await send('GET', `/order/${[...id].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`, headers)
    await send('GET', `/%6frder/${id}/`, headers)
    await send('PUT', uri, { ...headers, ...xml }, orderXml())
    await send('PUT', uri, { ...headers, ...xml, 'if-match': '*' }, '<nonsense>')
    await send('GET', `/products?q=${secret}`, headers)
    await send('GET', `/${secret}/${id}`, headers)
    await send('GET', `${uri}?${secret}`, { ...headers, accept: 'text/html' })
    await send('POST', '/order', { ...headers, ...xml }, `<${secret}>${id}</${secret}>`)
    await send('DELETE', `/order/none/${id}`, headers)
    await send('GET', `/orders?after=${id}`, headers)
  }
  const cursors: string[] = []
  for (const list of ['/orders?limit=1', '/orders?limit=1&order=oldest', '/orders?limit=1&modified-since=2020-01-01T00:00:00Z']) {
    const [, next = ''] = /<([^>]*)>; rel="next"/.exec(String((await send('GET', list, customer)).headers.link)) ?? []
    t.equal((await send('GET', next, customer)).statusCode, 200)
    cursors.push(new URL(next, 'http://shop').searchParams.get('after') ?? '')
  }
  const broken = new Error(`no row (id)=(${id}) for Bearer ${secret} at /order/${id}`)
  store.order = () => Promise.reject(broken)
  t.equal((await send('GET', uri)).statusCode, 500)
  await send('DELETE', uri)

  const text = log.lines.join('')
  t.ok(log.lines.length > 60, `${log.lines.length} lines`)
  for (const line of log.lines) JSON.parse(line)
  t.match(text, `/order/${id.slice(0, 8)}…`, 'enough of an order is there to find it')
  const [, sealed = ''] = cookie.split('=')
  t.ok(sealed.length > 20, 'there was a cookie')
  for (const cursor of cursors) {
    t.ok(cursor.length > 40, 'there was a cursor')
    t.notMatch(text, cursor, 'a cursor has the id of an order')
  }
  for (const [what, hidden] of Object.entries({
    secret,
    basic,
    sealed,
    id: ids[0],
    numbered: ids[1],
    idempotency: 'idempotency-secret',
    guessed: 'tp_guessed-key-0001'
  })) {
    t.notOk(text.includes(String(hidden)), `${what} is not in the log`)
  }
})

t.test('a line of the log stays JSON, and keeps what is no secret', async (t) => {
  const uuid = '0b9f6a52-7d1e-4c0a-9f43-5e8d2a6c1b70'
  t.equal(maskSecrets(`{"reqId":"${uuid}","msg":"a"}`), `{"reqId":"${uuid}","msg":"a"}`)
  t.equal(maskSecrets(`{"url":"/product/${uuid}"}`), `{"url":"/product/${uuid}"}`)
  t.equal(maskSecrets('{"url":"/order/12345678901/status?x=1"}'), '{"url":"/order/12345678…/status?x=1"}')
  t.equal(maskSecrets('{"url":"/order/:order_id"}'), '{"url":"/order/:order_id"}')
  t.equal(maskSecrets(`{"msg":"${uuid.toUpperCase()}"}`), '{"msg":"0B9F6A52…"}')
  t.equal(maskSecrets('{"a":"Authorization: Basic bWU6dHA="}'), '{"a":"Authorization: Basic …"}')
  t.equal(maskSecrets('{"m":"GET /products"}'), '{"m":"GET /products"}')
  for (const name of ['tradepost-session', 'tradepost-session%2Fshop'])
    t.equal(maskSecrets(`{"cookie":"a=b; ${name}=sealed; c=d"}`), `{"cookie":"a=b; ${name}=…; c=d"}`)
})

t.test('every answer tells its request id: the one of the log', async (t) => {
  const log = memory()
  const { app } = await build(t, { logTo: log })
  const ids = new Set<string>()
  for (const [method, url] of [
    ['GET', '/products'],
    ['GET', '/nowhere'],
    ['POST', '/products'],
    ['OPTIONS', '/products'],
    ['TRACE', '/products'],
    ['GET', '/health/live']
  ] as const) {
    const id = String((await app.inject({ method: method as 'GET', url })).headers['x-request-id'])
    t.match(id, /^[0-9a-f]{24}$/, `${method} ${url}`)
    ids.add(id)
  }
  t.equal(ids.size, 6)
  t.ok(log.lines.some((line) => ids.has((JSON.parse(line) as { reqId?: string }).reqId ?? '')))
  const { headers } = await app.inject('/products')
  const again = await app.inject({ url: '/products', headers: { 'if-none-match': String(headers['etag']) } })
  t.equal(again.statusCode, 304)
  t.ok(again.headers['x-request-id'])
})

t.test(
  'a request is one line of the log: what was asked, by whom, what came of it, how long it took, and why it was refused',
  async (t) => {
    const log = memory()
    const { app, key, store } = await build(t, { logTo: log })
    const buyer = await key('Initech', 'order')
    await app.inject({ url: '/products?limit=1', headers: { 'user-agent': 'curl/8' } })
    await app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...buyer }, payload: '<purchase-order/>' })
    await app.inject('/nowhere')
    const [{ id } = { id: '' }] = await store.keys()
    const lines = log.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    t.match(lines, [
      {
        level: 30,
        msg: 'request completed',
        reqId: /^[0-9a-f]{24}$/,
        req: { method: 'GET', url: '/products?limit=1', host: String, remoteAddress: '127.0.0.1', userAgent: 'curl/8' },
        res: { statusCode: 200 },
        responseTime: Number,
        caller: undefined
      },
      {
        req: { method: 'POST', url: '/order' },
        res: { statusCode: 422 },
        code: 'invalid-document',
        detail: /Nothing was stored/,
        caller: { customer: 'Initech', key: id }
      },
      { req: { method: 'GET', url: '/nowhere' }, res: { statusCode: 404 } }
    ])
    t.equal(lines.length, 3)
  }
)

t.test('a field of a request is cut in the log, so that a caller does not choose how much is written', async (t) => {
  const log = memory()
  const { app } = await build(t, { logTo: log })
  await app.inject({ url: '/product/ABC-1', headers: { 'user-agent': 'a'.repeat(5_000), host: 'b'.repeat(5_000) } })
  t.match(JSON.parse(log.lines[0] ?? ''), { req: { userAgent: /^a{256}$/, host: /^b{256}$/ } })
})

t.test('a request whose client leaves before it has the answer is one line, too', async (t) => {
  const log = memory()
  const { app, store } = await build(t, { logTo: log })
  const { promise: asked, resolve: ask } = deferred()
  const { promise: gone, resolve: leave } = deferred()
  const read = store.product.bind(store)
  store.product = async (id) => {
    ask()
    await gone
    return read(id)
  }
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  log.lines.length = 0
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /product/ABC-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await asked
  socket.destroy()
  while (log.lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  leave()
  await app.close()
  t.match(
    log.lines.map((line) => JSON.parse(line)),
    [{ msg: 'request cut off', req: { url: '/product/ABC-1' }, res: undefined }]
  )
  t.equal(log.lines.length, 1)
})

t.test('a request that the parser refuses is one line, which says why and has the id of the answer', async (t) => {
  const log = memory()
  const { app } = await build(t, { logTo: log })
  await listening(app)
  log.lines.length = 0
  const answers = [
    'POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n',
    'GET / HTTP/1.1\r\nno field\r\n\r\n'
  ].map(async (bytes) => {
    const wire = await Wire.open(t, app)
    return wire.send(bytes).answer()
  })
  const [broken, unreadable] = await Promise.all(answers)
  const answer = { status: 400, headers: { 'x-request-id': /^[0-9a-f]{24}$/ } }
  t.match([broken, unreadable], [answer, answer])
  await app.close()
  const lines = log.lines.map((line) => JSON.parse(line))
  const refusal = { level: 30, res: { statusCode: 400 }, code: 'malformed-request', detail: /\w/ }
  t.equal(lines.length, 2)
  t.match(
    lines.find(({ req }) => req),
    { ...refusal, msg: 'request completed', reqId: broken?.headers['x-request-id'], req: { method: 'POST', url: '/order' } }
  )
  t.match(
    lines.find(({ req }) => !req),
    { ...refusal, msg: 'request refused', reqId: unreadable?.headers['x-request-id'], remoteAddress: '127.0.0.1' }
  )
})

t.test('a request that was sent ahead and that the parser refuses is one line, too', async (t) => {
  const log = memory()
  const { app } = await build(t, { logTo: log })
  await listening(app)
  log.lines.length = 0
  const wire = await Wire.open(t, app)
  const broken = 'POST /order HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n'
  wire.send(`GET /product/ABC-1 HTTP/1.1\r\nHost: x\r\n\r\n${broken}`)
  t.equal((await wire.answer()).status, 200)
  const { status, headers } = await wire.answer()
  t.equal(status, 400)
  await app.close()
  t.match(
    log.lines.map((line) => JSON.parse(line)),
    [{ req: { method: 'GET' } }, { msg: 'request refused', reqId: headers['x-request-id'], code: 'malformed-request' }]
  )
})

t.test('on a terminal a request with a key names its customer', async (t) => {
  const log = memory()
  const { app, key } = await build(t, { logTo: terminalLog(log, { colors: false }) })
  await app.inject({ url: '/orders', headers: await key('Müller \u001b & Co', 'order') })
  await app.inject('/orders')
  t.match(log.lines[0], /^\[\d\d:\d\d:\d\d\]: GET \/orders 200 \d+ ms for Müller \\u001b & Co\n$/)
  t.match(log.lines[1], /^\[\d\d:\d\d:\d\d\]: GET \/orders 401 \d+ ms unauthenticated: .+\n$/)
  t.equal(log.lines.length, 2)
})

t.test('on a terminal a request is one readable line, and an error has its stack below, or its cause where it is known', async (t) => {
  const log = memory()
  const { app, store } = await build(t, { logTo: terminalLog(log, { colors: false }) })
  await app.inject('/products?limit=1')
  await app.inject({ method: 'POST', url: '/order', headers: xml, payload: '<purchase-order/>' })
  t.match(log.lines[0], /^\[\d\d:\d\d:\d\d\]: GET \/products\?limit=1 200 \d+ ms\n$/)
  t.match(log.lines[1], /^\[\d\d:\d\d:\d\d\]: POST \/order 422 \d+ ms invalid-document: .+\n$/)
  t.equal(log.lines.length, 2)
  store.product = () => Promise.reject(new Error('the disk at /order/0b9f6a52-7d1e-4c0a-9f43-5e8d2a6c1b70 is gone'))
  await app.inject('/product/ABC-1')
  t.match(log.lines[2], /ERROR request failed\n {2}Error: the disk at \/order\/0b9f6a52… is gone\n {2} +at /)
  t.match(log.lines[3], /GET \/product\/ABC-1 500 \d+ ms\n$/)
  app.log.info({ try: ['curl x', 'open y'] }, 'Tradepost listens')
  t.match(log.lines[4], /: Tradepost listens\n {2}curl x\n {2}open y\n$/)
  app.log.info({ products: 44 }, 'loaded')
  t.match(log.lines[5], /: loaded \(44 products\)\n$/)
  app.log.info({ signal: 'SIGTERM' }, 'stopping')
  t.match(log.lines[6], /: stopping \(SIGTERM\)\n$/)
  t.notMatch(log.lines.join(''), '\u001b', 'no colour where it was not asked for')

  await app.inject('/products%0a%1b[2J%e2%80%ae?q=%0d')
  t.match(log.lines[7], /GET \/products\\u000a\\u001b\[2J\\u202e\?q=\\u000d 404 \d+ ms/, 'what a client sends stays on its line')
  app.log.info({ code: 'malformed-request', detail: 'a header\nfield' }, 'request refused')
  t.match(log.lines[8], /: request refused malformed-request: a header\\u000afield\n$/)
  t.equal(log.lines[7]?.split('\n').length, 2)

  store.product = () => Promise.reject(unavailable(new Error('connect ECONNREFUSED 127.0.0.1:5432')))
  await app.inject('/product/ABC-1')
  t.match(log.lines[9], /ERROR request failed\n {2}The shop cannot reach .* seconds: connect ECONNREFUSED 127.0.0.1:5432\n$/)
  t.match(log.lines[10], /GET \/product\/ABC-1 503 \d+ ms\n$/)
  const addresses = [new Error('connect ECONNREFUSED ::1:5432'), new Error('connect ECONNREFUSED 127.0.0.1:5432')]
  store.product = () => Promise.reject(unavailable(new AggregateError(addresses)))
  await app.inject('/product/ABC-1')
  t.match(log.lines[11], / seconds: connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432\n$/)

  const cutOff = memory()
  const line = { level: 30, time: 1, msg: 'request cut off', req: { method: 'GET', url: '/' }, responseTime: 2 }
  terminalLog(cutOff, { colors: false }).write(`${JSON.stringify(line)}\n`)
  t.match(cutOff.lines[0], / GET \/ - 2 ms \(request cut off\)\n$/, 'no status, because no answer was sent')

  const coloured = memory()
  terminalLog(coloured, { colors: true }).write(`${JSON.stringify({ level: 40, time: 1, msg: 'look' })}\n`)
  t.match(coloured.lines[0], '\u001b[33m')
})
