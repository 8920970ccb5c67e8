import t from 'tap'
import { stopClock } from '../stopped-clock.ts'
import { serveConnections, until } from './served.ts'

/** Requests that each of the busy clients sends ahead. */
const sentAhead = 60
const busyClients = 5
const newClients = 100

t.test('requests that were sent ahead wait while clients connect: Node accepts only one of them in a turn', async (t) => {
  const { pass } = stopClock(t)
  let handled = 0
  const { server, open } = await serveConnections(t, (_request, response) => {
    handled++
    // Only the handling of a request takes time.
    pass(1)
    response.end()
  })
  for (let i = 0; i < busyClients; i++) open().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(sentAhead))
  while (handled < busyClients + 1) await new Promise(setImmediate)

  let accepted = 0
  const before = handled
  const allAccepted = new Promise<void>((resolve) => server.on('connection', () => ++accepted === newClients && resolve()))
  for (let i = 0; i < newClients; i++) open()
  await allAccepted
  t.ok(handled - before < newClients, `${handled - before} requests were handled before ${newClients} clients were accepted`)
  while (handled < busyClients * sentAhead) await new Promise(setImmediate)
  t.equal(handled, busyClients * sentAhead, 'and all are handled in the end')
})

t.test('a newcomer gets its socket before those of a crowd that connected before it', async (t) => {
  stopClock(t)
  const { server, open } = await serveConnections(t, (_request, response) => response.end())
  const addresses: string[] = []
  server.on('connection', ({ remoteAddress = '' }) => addresses.push(remoteAddress))
  for (let i = 0; i < newClients; i++) open('127.0.0.2')
  open('127.0.0.3')
  await until(() => addresses.length === newClients + 1, 'all have sockets')
  const before = addresses.indexOf('127.0.0.3')
  t.ok(before < newClients / 10, `${before} sockets of the crowd were made before`)
})
