import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openStore } from '../../stores/open.ts'
import { makeBatch } from '../../stores/sqlite/batch.ts'
import { connectWriter } from '../../stores/sqlite/connection.ts'
import { build, draft, orderXml } from '../build.ts'
import { listening, message, Wire } from '../http/wire.ts'
import { replace, stopClock } from '../stopped-clock.ts'

/** On PostgreSQL the layer sends nothing again, because a version cannot be read without a query. */
const skip = process.env['TEST_DATABASE_URL'] !== undefined && 'versions take a query'

/** A request that the layer answers without the parser once it has come three times on a connection. */
const page = message('GET /products?limit=100')
const product = message('GET /product/ABC-1')

/** A service with a page of some 190 KB, and how many requests its parser has read. */
async function serve(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const { app, store, config } = await build(t, { settings })
  const description = 'd'.repeat(1_500)
  await store.importProducts(Array.from({ length: 100 }, (_, i) => ({ id: `P${i}`, draft: draft({ description }) })))
  let parsed = 0
  app.server.prependListener('request', () => parsed++)
  await listening(app)
  const warm = async (wire: Wire, request: string) => {
    for (let i = 0; i < 3; i++) await wire.send(request).answer()
    return wire
  }
  return { app, config, warm, parsed: () => parsed, connection: () => [...app.connections.open][0] }
}

/** Sends a request often, each time when the service has read the one before. The client reads no answer. @returns how often */
async function sendUnread(wire: Wire, { connection }: Awaited<ReturnType<typeof serve>>): Promise<number> {
  const open = connection()
  let sent = 0
  wire.pause()
  while (open && open.socket.writableLength === 0) {
    const before = open.socket.bytesRead
    wire.send(page)
    sent++
    while (open.socket.bytesRead < before + page.length) await new Promise(setImmediate)
  }
  return sent
}

t.test('answers that a client reads late all arrive whole and in order', { skip }, async (t) => {
  const service = await serve(t)
  const wire = await service.warm(await Wire.open(t, service.app), page)
  const [expected, before] = [(await wire.send(page).answer()).body, service.parsed()]
  const sent = await sendUnread(wire, service)
  t.ok(sent > 5, `${sent} answers fit into the buffers of the system`)
  t.equal(service.parsed(), before)
  wire.send(product).send(page)
  wire.resume()
  for (let i = 0; i < sent; i++) t.ok((await wire.answer()).body === expected, 'a whole page')
  t.match((await wire.answer()).body, /ABC-1/)
  t.ok((await wire.answer()).body === expected)
  t.ok(service.parsed() > before, 'what came behind unsent bytes was parsed')
  t.ok(service.connection()?.socket.timeout, 'an idle connection has a timeout again')
})

t.test('requests that wait for their turn are not parsed either, and what comes behind them waits', { skip }, async (t) => {
  const { app, warm, parsed } = await serve(t)
  const wires = await Promise.all(Array.from({ length: 10 }, async () => warm(await Wire.open(t, app), product)))
  const before = parsed()
  let works = 0
  /** Takes more than its turn of the event loop. */
  const work = () => {
    works++
    const since = performance.now()
    while (performance.now() - since < 6);
    if (works < 100 && wires.some((wire) => wire.isSilent())) app.schedule('198.51.100.1', work)
  }
  for (let i = 0; i < 3; i++) app.schedule('198.51.100.1', work)
  for (const wire of wires) wire.send(product)
  for (const wire of wires) t.equal((await wire.answer()).status, 200)
  t.equal(parsed(), before)
  for (let i = 0; i < 3; i++) app.schedule('198.51.100.1', work)
  for (const wire of wires) {
    wire.send(product)
    await new Promise(setImmediate)
    wire.send(message('GET /product/none'))
  }
  for (const wire of wires) t.same([(await wire.answer()).status, (await wire.answer()).status], [200, 404])
})

t.test('a service that stops sends the rest of an answer', { skip }, async (t) => {
  const service = await serve(t)
  const wire = await service.warm(await Wire.open(t, service.app), page)
  const { length } = (await wire.send(page).answer()).body
  const idle = await service.warm(await Wire.open(t, service.app), product)
  const sent = await sendUnread(wire, service)
  service.app.connections.disableKeepAlive()
  const drained = service.app.connections.drain()
  // The drain closes idle connections in the same round in which it looks at the other one.
  await idle.rest()
  const bodies: number[] = []
  wire.resume()
  for (let i = 0; i < sent; i++) bodies.push((await wire.answer()).body.length)
  t.same(bodies, Array(sent).fill(length))
  t.equal(await wire.rest(), '')
  wire.end()
  await drained
})

t.test('an answer that waits to be sent is not cut off by the timer of idle connections, or by a refusal', { skip }, async (t) => {
  const service = await serve(t)
  const wire = await service.warm(await Wire.open(t, service.app), page)
  const socket = service.connection()?.socket
  t.ok(socket?.timeout, 'an idle connection has a timeout')
  const sent = await sendUnread(wire, service)
  t.equal(socket?.timeout, 0)
  t.match(service.app.unanswered(), [{ method: 'GET', state: 'its answer was still being sent' }])
  const before = socket?.bytesRead ?? 0
  wire.send('garbage\r\n\r\n')
  while (socket?.bytesRead === before) await new Promise(setImmediate)
  t.notOk(socket?.writableEnded, 'the refusal waits')
  wire.resume()
  for (let i = 0; i < sent; i++) t.equal((await wire.answer()).status, 200)
  t.match(await wire.answer(), { status: 400, headers: { connection: 'close' } })
})

t.test('a client that reads no answers is cut off after SEND_TIMEOUT', { skip }, async (t) => {
  const service = await serve(t, { SEND_TIMEOUT: '1' })
  const wire = await service.warm(await Wire.open(t, service.app), page)
  await sendUnread(wire, service)
  while (service.connection()) await sleep(50)
  t.pass('the connection is closed')
})

t.test('on a connection that was hot, other requests and bodies are understood', { skip }, async (t) => {
  const { app, warm, parsed } = await serve(t)
  const wire = await warm(await Wire.open(t, app), product)
  const post = message('POST /order', { 'content-type': 'application/xml' }, orderXml())
  const [head = '', body = ''] = post.split(/(?<=\r\n\r\n)/)
  const before = parsed()
  t.equal((await wire.send(product).answer()).status, 200)
  t.equal(parsed(), before, 'it is hot')
  // The body looks like a hot request, and its head has arrived before.
  wire.send(message('POST /order', { 'content-type': 'application/xml', 'content-length': String(product.length) }))
  while (parsed() === before) await new Promise(setImmediate)
  t.equal((await wire.send(product).answer()).status, 400, 'the body is not an order')
  wire.send(head).send(body.slice(0, 10)).send(body.slice(10))
  t.equal((await wire.answer()).status, 201)
  t.equal((await wire.send(product).answer()).status, 200)
  t.equal((await wire.send(message('HEAD /product/ABC-1')).answer('HEAD')).body, '')
  const expecting = { expect: 'anything', 'content-type': 'application/xml', 'content-length': String(product.length) }
  t.equal((await wire.send(message('POST /order', expecting)).answer()).status, 417)
  t.equal(await wire.send(product).rest(), '', 'nothing is answered after the last answer')
})

t.test('a change by another process is seen by the next request', { skip }, async (t) => {
  const { app, config, warm, parsed } = await serve(t)
  const other = await openStore(config.DATABASE_URL, config.CURRENCY)
  t.teardown(() => other.close())
  const wire = await warm(await Wire.open(t, app), product)
  const before = parsed()
  for (let i = 0; i < 50; i++) {
    await other.putProduct('ABC-1', draft({ name: `Bolt ${i}` }), {})
    for (let j = 0; j < 3; j++) t.match((await wire.send(product).answer()).body, `Bolt ${i}<`)
  }
  t.ok(parsed() < before + 150, 'some of them were not parsed')
})

t.test('a change that is committed while a request waits for its turn is seen by every later request', { skip }, async (t) => {
  const { pass } = stopClock(t)
  const { app, config, warm, parsed } = await serve(t)
  const [waiting, later] = [await warm(await Wire.open(t, app), product), await warm(await Wire.open(t, app), product)]
  const other = connectWriter(config.DATABASE_URL.replace('sqlite:', ''))
  t.teardown(() => other.close())
  const write = makeBatch(other, config.CURRENCY, () => {})
  const before = parsed()
  let hasWaited = false
  /** Takes all the time of each turn of the event loop, so that the first request waits. */
  const work = () => {
    if (hasWaited) return
    pass(8)
    app.schedule('198.51.100.1', work)
  }
  const { observe } = app.metrics
  replace(t, app.metrics, 'observe', (...given) => {
    observe.apply(app.metrics, given)
    if (hasWaited) return
    hasWaited = [...app.connections.open].some(({ isWaiting }) => isWaiting)
    // The request has its answer. Another process commits a change, and only then the other client sends its request.
    t.match(write([{ verb: 'putProduct', args: ['ABC-1', draft({ name: 'Changed' }), {}] }], 'small'), [{ value: {} }])
    later.send(product)
  })
  work()
  waiting.send(product)
  t.match((await waiting.answer()).body, 'Hex bolt')
  t.match((await later.answer()).body, 'Changed')
  t.ok(hasWaited, 'the first request had to wait')
  t.equal(parsed(), before + 1, 'only the later request needed the application')
})
