import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Connections } from '../../http/connections.ts'
import { parserOf } from '../../http/parser.ts'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'

const clients = 50

/** Waits for a turn of the event loop after which the condition holds. The test's own limit of time ends it. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

/** Clients that send a request as soon as they are connected, and a shop that counts what it makes of them. */
async function connecting(t: Test) {
  const { app } = await build(t)
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  const seen = { connections: 0, parsers: 0, requests: 0 }
  app.server.on('request', () => seen.requests++)
  app.server.on('connection', (socket: Socket) => {
    seen.connections++
    if (parserOf(socket)) seen.parsers++
  })
  const sockets = Array.from({ length: clients }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.teardown(() => sockets.map((socket) => socket.destroy()))
  for (const socket of sockets) socket.write(message('GET /product/ABC-1'))
  const reset = () => sockets.map((socket) => socket.resetAndDestroy())
  return { app, seen, sockets, reset }
}

t.test('for a client that resets before it is accepted, nothing is set up', async (t) => {
  const { seen, sockets, reset } = await connecting(t)
  // The system connects all of them before Node accepts the next one.
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const { parsers } = seen
  t.ok(parsers < clients / 2)
  reset()
  await until(() => seen.connections === clients)
  t.equal(seen.parsers, parsers)
})

t.test('of a client that resets before it is read, nothing is read', async (t) => {
  const { app, seen, reset } = await connecting(t)
  await until(() => seen.connections === clients)
  const { requests } = seen
  t.ok(requests < clients / 2)
  reset()
  await until(() => app.connections.open.size === 0)
  t.equal(seen.requests, requests)
})

async function serve(t: Test, handle: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => handle(response))
  const connections = new Connections(server, () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const open = () => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    t.teardown(() => client.destroy())
    return client
  }
  return { connections, open }
}

t.test('of a client that resets, queued requests are not carried out', async (t) => {
  let handled = 0
  const { connections, open } = await serve(t, (response) => {
    response.end()
    if (++handled === 3) client.resetAndDestroy()
  })
  const client = open()
  client.write(message('POST /', { 'content-length': '0' }).repeat(50))
  await until(() => handled === 3 && connections.open.size === 0)
  t.equal(handled, 3)
})

/** Clients whose second requests wait for the first answers, which never come. So their connections are not read when they reset. */
async function resetUnread(t: Test) {
  let handled = 0
  const { connections, open } = await serve(t, () => handled++)
  const gone = Array.from({ length: clients }, open)
  for (const client of gone) client.write(message('GET /').repeat(2))
  await until(() => [...connections.open].filter(({ queued }) => queued.length > 0).length === clients)
  for (const client of gone) client.resetAndDestroy()
  return { connections, open }
}

t.test('connections that are not read and were reset are closed when others come', async (t) => {
  const { connections, open } = await resetUnread(t)
  const newcomers = clients / 2
  for (let i = 0; i < newcomers; i++) open()
  await until(() => connections.open.size === newcomers)
  t.pass('the others are kept')
})

t.test('connections that are not read and were reset do not delay the stop', async (t) => {
  const { connections } = await resetUnread(t)
  connections.disableKeepAlive()
  await connections.drain()
  t.equal(connections.open.size, 0)
})
