import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { build, orderXml, xml } from '../build.ts'
import { listening, message, Wire } from '../http/wire.ts'
import { until } from './served.ts'

const get = message('GET /product/ABC-1')

t.test('a client that connected before the listener closed is answered, accepted or not yet', async (t) => {
  const { app } = await build(t)
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  // Node accepts one of them in the turn of the event loop in which they all learn that they are connected.
  const clients = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  await Promise.all(clients.map((client) => once(client, 'connect')))
  const answers = clients.map((client) => {
    client.write(get)
    return text(client)
  })
  app.connections.disableKeepAlive()
  await app.connections.drain()
  for (const answer of await Promise.all(answers)) t.match(answer, /^HTTP\/1\.1 200 [\s\S]+connection: close[\s\S]+<\/product>\s*$/)
  t.notOk(app.server.listening)
})

t.test('an accepted client whose request is not yet read is answered, however long that takes', async (t) => {
  const { app } = await build(t)
  await listening(app)
  const accepted = new Promise<Socket>((resolve) => {
    // This listener comes before that of the scheduler, so the scheduler cannot start to read from the socket.
    app.server.prependOnceListener('connection', (socket: Socket) => {
      socket.resume = () => socket
      resolve(socket)
    })
  })
  const wire = await Wire.open(t, app)
  wire.send(get)
  const socket = await accepted
  app.connections.disableKeepAlive()
  const grace = 10
  const drained = app.connections.drain(grace)
  // The drain asks in each of its rounds whether the connection is read. It waits longer between two of them than the grace lasts.
  let rounds = 0
  const { isPaused } = socket
  socket.isPaused = () => {
    rounds++
    return isPaused.call(socket)
  }
  while (rounds < 5 && !socket.writableEnded) await sleep(grace)
  t.notOk(socket.writableEnded, 'the connection is kept')
  Reflect.deleteProperty(socket, 'resume')
  socket.resume()
  t.match(await wire.answer(), { status: 200, headers: { connection: 'close' } })
  await drained
})

t.test('of pipelined requests the last has the last answer, and none behind it is processed (RFC 9112 9.6)', async (t) => {
  const { app, store } = await build(t)
  await listening(app)
  const wire = await Wire.open(t, app)
  t.equal((await wire.send(get).answer()).headers['connection'], 'keep-alive')
  app.connections.disableKeepAlive()
  const order = message('POST /order', xml, orderXml())
  wire.send(`${get}${order}${get}`)
  const answers = [await wire.answer(), await wire.answer(), await wire.answer()]
  t.same(
    answers.map(({ status, headers }) => [status, headers['connection'] === 'close']),
    [
      [200, false],
      [201, false],
      [200, true]
    ]
  )
  wire.send(order)
  t.equal(await wire.rest(), '', 'the connection ends')
  await app.connections.drain()
  t.equal((await store.orders({ limit: 10 })).items.length, 1, 'the order that came too late was not placed')
})

t.test('an answer that refuses a body early reaches the client that still sends it', async (t) => {
  const { app } = await build(t, { settings: { BODY_LIMIT: '65536' } })
  await listening(app)
  app.connections.disableKeepAlive()
  const wire = await Wire.open(t, app)
  wire.send('POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/xml\r\nContent-Length: 100000\r\n\r\n')
  t.match(await wire.answer(), { status: 413, headers: { connection: 'close' } })
  wire.send('x'.repeat(100_000))
  t.equal(await wire.rest(), '')
  t.equal(wire.failure, undefined, 'nothing was reset')
})

t.test('a client that leaves after the refusal of its unfinished body is seen to leave: its request does not stay in flight', async (t) => {
  const { app } = await build(t)
  await listening(app)
  let [sawEnd, sawClose] = [false, false]
  app.server.once('connection', (socket: Socket) => {
    socket.once('end', () => (sawEnd = true))
    socket.once('close', () => (sawClose = true))
  })
  const wire = await Wire.open(t, app)
  t.equal((await wire.send(get).answer()).status, 200)
  // The service would close the connection itself after a time. A busy machine may meet that, so here it never ends.
  t.intercept(globalThis, 'setTimeout', { value: () => ({ unref: () => undefined }) })
  const head = { 'content-type': 'application/xml', 'transfer-encoding': 'chunked' }
  wire.send(message('POST /nothing', head) + '1\r\nx\r\n'.repeat(10_900))
  t.match(await wire.answer(), { status: 400, body: /too many chunks/ })
  wire.end()
  await until(() => sawClose, 'the connection is closed')
  t.ok(sawEnd, 'the connection did not wait for its timeout')
})

t.test('a client that ends its side behind requests gets all of their answers, also after a refused one or one too many', async (t) => {
  const { app, store } = await build(t)
  await listening(app)
  const order = message('POST /order', xml, orderXml())
  const statusesOf = (answers: string) => [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  const send = (bytes: string) => {
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    client.end(bytes)
    return text(client)
  }
  t.same(statusesOf(await send(`${order}${order}garbage\r\n\r\n`)), [201, 201, 400])
  t.same(statusesOf(await send(`${get}${order}garbage\r\n\r\n`)), [200, 201, 400])
  const many = statusesOf(await send(order.repeat(150)))
  t.equal(many.length, 101)
  const { items } = await store.orders({ limit: 1000 })
  t.equal(items.length, 3 + many.filter((status) => status === 201).length, 'each order that was placed was answered')
})
