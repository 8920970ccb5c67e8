import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'
import { resetClients } from '../reset-clients.ts'
import { stopClock } from '../stopped-clock.ts'
import { countNewClients, serveConnections, until } from './served.ts'

const clients = 50

/**
 * Clients that send a request as soon as they are connected, and a shop that counts what it makes of them. Its clock is stopped, so
 * it reads from none of them before all are accepted.
 */
async function connecting(t: Test) {
  stopClock(t)
  const { app } = await build(t)
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  const seen = countNewClients(app)
  const sockets = Array.from({ length: clients }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.teardown(() => sockets.map((socket) => socket.destroy()))
  for (const socket of sockets) socket.write(message('GET /product/ABC-1'))
  const reset = () => sockets.map((socket) => socket.resetAndDestroy())
  return { app, seen, sockets, reset }
}

t.test('a reset at any moment is no error: nothing fails, and nothing stays behind', async (t) => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  // A rate limit looks up the address of each client, and a client that has reset has none.
  const { app } = await build(t, { settings: { RATE_LIMIT: '100000' }, logTo })
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  await resetClients(port, 20, async (what) => {
    t.equal((await app.inject('/product/ABC-1')).statusCode, 200, what)
  })
  const left = () => app.metrics.read()
  while (!(await left()).includes('http_requests_in_flight 0\n')) await pause(20)
  t.notMatch(await left(), /status="5/)
  await app.close()
  t.same(lines.join('').match(/"level":[456]0.*/g), null)
})

t.test('for a client that resets before it is accepted, nothing is set up', async (t) => {
  const { seen, sockets, reset } = await connecting(t)
  // The system connects all of them before Node accepts the next one.
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const { sockets: before, parsers } = seen
  t.ok(before < clients / 2)
  reset()
  await until(() => seen.accepted === clients, 'all are accepted')
  t.same([seen.sockets, seen.parsers], [before, parsers])
})

t.test('of a client that resets before it is read, nothing is read', async (t) => {
  const { app, seen, reset } = await connecting(t)
  await until(() => seen.accepted === clients, 'all are accepted')
  t.equal(seen.requests, 0)
  reset()
  await until(() => app.connections.open.size === 0, 'all are closed')
  t.equal(seen.requests, 0)
})

t.test('of a client that resets, queued requests are not carried out', async (t) => {
  let handled = 0
  const { connections, open } = await serveConnections(t, (_request, response) => {
    response.end()
    if (++handled === 3) client.resetAndDestroy()
  })
  const client = open()
  client.write(message('POST /', { 'content-length': '0' }).repeat(50))
  await until(() => handled === 3 && connections.open.size === 0, 'the connection is closed')
  t.equal(handled, 3)
})

/** Clients whose second requests wait for the first answers, which never come. So their connections are not read when they reset. */
async function resetUnread(t: Test) {
  const { connections, open } = await serveConnections(t, () => {})
  const gone = Array.from({ length: clients }, () => open())
  for (const client of gone) client.write(message('GET /').repeat(2))
  await until(() => [...connections.open].filter(({ queued }) => queued.length > 0).length === clients, 'all wait')
  for (const client of gone) client.resetAndDestroy()
  return { connections, open }
}

t.test('connections that are not read and were reset are closed when others come', async (t) => {
  const { connections, open } = await resetUnread(t)
  const newcomers = clients
  for (let i = 0; i < newcomers; i++) open()
  const accepted = () => [...connections.open].filter(({ lastRequest }) => !lastRequest).length
  await until(() => accepted() === newcomers && connections.open.size <= newcomers, 'those that were reset are closed')
  t.equal(connections.open.size, newcomers, 'the others are kept')
})

t.test('connections that are not read and were reset do not delay the stop', async (t) => {
  const { connections } = await resetUnread(t)
  connections.disableKeepAlive()
  await connections.drain()
  t.equal(connections.open.size, 0)
})
