import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { parserOf } from '../../http/parser.ts'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'

const clients = 50

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
  t.ok(parsers < clients)
  reset()
  while (seen.connections < clients) await new Promise(setImmediate)
  t.equal(seen.parsers, parsers)
})

t.test('of a client that resets before it is read, nothing is read', async (t) => {
  const { app, seen, reset } = await connecting(t)
  while (seen.connections < clients) await new Promise(setImmediate)
  const { requests } = seen
  t.ok(requests < clients)
  reset()
  while (app.connections.open.size > 0) await new Promise(setImmediate)
  t.equal(seen.requests, requests)
})
