import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { connectionOf } from '../../http/connection.ts'
import { build, orderXml } from '../build.ts'
import { listening, message } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'
import { countNewClients, until } from './served.ts'

/** A network with more new connections than this in a minute is frequent: its clients are read before there is a socket. */
const frequent = 600

/** Clients of `serve` that connect at the same time. */
const group = 100

/** A shop that has had so many connections from an address that one more makes its network frequent, or that many. */
async function serve(t: Test, from: string, settings: Readonly<Record<string, string>> = { RATE_LIMIT: 'off' }, connections = frequent) {
  const { app } = await build(t, { settings: { MAX_URL_LENGTH: '256', ...settings } })
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  const clients = new Set<Socket>()
  t.teardown(() => {
    for (const client of clients) client.destroy()
  })
  const open = (localAddress: string) => {
    const client = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
    clients.add(client)
    return client
  }
  const seen = countNewClients(app)
  while (seen.accepted < connections) {
    const before = seen.accepted
    const some = Array.from({ length: group }, () => open(from))
    await Promise.all(some.map((client) => once(client, 'connect')))
    for (const client of some) client.destroy()
    // More than Node's backlog of 511 that wait would be delayed by the system for a second.
    await until(() => seen.accepted === before + group, 'the group is accepted')
  }
  await until(() => app.connections.waiting.isEmpty && app.connections.open.size === 0, 'all are gone')
  return { app, seen: Object.assign(seen, { accepted: 0, sockets: 0 }), open }
}

const get = message('GET /product/ABC-1')

/** What a client sends before it leaves. None of it is a whole request. */
const sendings = { nothing: '', 'a byte': 'G', 'half a header section': get.slice(0, 30), 'many bytes': 'a'.repeat(5_000) }

const clients = 50

/** Clients that leave when they have sent something. The system connects all of them before Node accepts the next one. */
async function leave(open: (from: string) => Socket, from: string, bytes: string): Promise<void> {
  const sockets = Array.from({ length: clients }, () => open(from))
  for (const socket of sockets) socket.end(bytes)
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
}

t.test('for a client of a frequent network that has left before it is accepted, nothing is set up', async (t) => {
  stopClock(t)
  const { app, seen, open } = await serve(t, '127.0.0.2')
  for (const [what, bytes] of Object.entries(sendings)) {
    Object.assign(seen, { accepted: 0, sockets: 0 })
    await leave(open, '127.0.0.2', bytes)
    await until(() => seen.accepted === clients && app.connections.waiting.isEmpty, 'all are accepted, and none waits for its socket')
    t.ok(seen.sockets < clients / 2, `${what}: ${seen.sockets} sockets`)
  }
  await until(() => app.connections.open.size === 0, 'all are gone')
})

t.test(
  'a client that has sent a whole request is answered although it has ended its side, unless its network has sent far too many',
  async (t) => {
    stopClock(t).followTimers()
    for (const [settings, isAnswered] of [
      [{ RATE_LIMIT: 'off' }, true],
      [{ RATE_LIMIT: '1' }, false]
    ] as const) {
      const { app, seen, open } = await serve(t, '127.0.0.2', settings)
      for (let i = 0; i < 3; i++) await app.inject({ url: '/product/ABC-1', remoteAddress: '127.0.0.2' })
      await leave(open, '127.0.0.2', get)
      await until(() => seen.accepted === clients, 'all are accepted')
      await until(() => app.connections.waiting.isEmpty, 'none waits for its socket')
      if (isAnswered) t.equal(seen.sockets, clients)
      else t.ok(seen.sockets < clients / 2, `${seen.sockets} sockets`)
      await until(() => app.connections.open.size === 0, 'all are gone')
    }
  }
)

t.test('a client of another network that ends its side of the connection is still answered', async (t) => {
  stopClock(t)
  const { app, seen, open } = await serve(t, '127.0.0.2')
  for (const bytes of Object.values(sendings)) await leave(open, '127.0.0.3', bytes)
  await until(() => seen.accepted === clients * 4, 'all are accepted')
  await until(() => app.connections.waiting.isEmpty, 'none waits for its socket')
  t.equal(seen.sockets, clients * 4)
  await until(() => app.connections.open.size === 0, 'all are gone')
})

t.test('a client of a frequent network is read and answered like any other', async (t) => {
  stopClock(t)
  const { app, open } = await serve(t, '127.0.0.1')
  let readEarly = 0
  app.server.on('connection', (socket: Socket) => {
    if (connectionOf(socket)?.bytesReadEarly) readEarly++
  })
  /** The status codes of the answers to many clients that connect at once. Those that Node accepts late have sent their bytes by then. */
  async function statuses(bytes: string, answers = 1): Promise<readonly string[]> {
    const all = await Promise.all(
      Array.from({ length: clients }, async () => {
        const client = open('127.0.0.1')
        client.write(bytes)
        let received = ''
        const found = () => received.match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? []
        for await (const chunk of client) {
          received += chunk
          if (found().length === answers) break
        }
        return found().join(' ')
      })
    )
    return [...new Set(all)]
  }
  t.same(await statuses(get), ['200'])
  t.same(await statuses(get.repeat(2), 2), ['200 200'])
  const body = orderXml().padEnd(60_000)
  t.same(await statuses(message('POST /order', { 'content-type': 'application/xml', 'content-length': String(body.length) }) + body), [
    '201'
  ])
  t.same(await statuses(message(`GET /${'a'.repeat(20_000)}`)), ['414'])
  t.same(await statuses('nonsense\r\n\r\n'), ['400'])
  t.ok(readEarly > clients, `${readEarly} clients were read early`)
})

t.test('a network that has connected 2,000 times at once gets 500 more connections in a second, unless it is a proxy', async (t) => {
  const { pass } = stopClock(t)
  for (const [settings, isClosed] of [
    [{}, true],
    [{ TRUST_PROXY: '127.0.0.2' }, false]
  ] as const) {
    const { seen, open } = await serve(t, '127.0.0.2', { RATE_LIMIT: '600', ...settings }, 2_000)
    const status = async (from: string) => {
      const client = open(from)
      client.write(get)
      // `once` of node:events would reject where the connection is reset.
      const answer = await new Promise<Buffer | undefined>((resolve) =>
        client.once('data', resolve).once('close', () => resolve(undefined))
      )
      client.destroy()
      return answer?.toString().split(' ')[1]
    }
    t.equal(await status('127.0.0.2'), isClosed ? undefined : '200', JSON.stringify(settings))
    if (isClosed) {
      const how = new Promise<string | undefined>((resolve) => {
        const silent = open('127.0.0.2').resume()
        silent.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code)).once('end', () => resolve('in order'))
      })
      t.equal(await how, 'ECONNRESET', 'by a reset, which takes the system less time')
    }
    t.equal(seen.sockets, isClosed ? 0 : 1, 'there is a socket only for a client that is answered')
    t.equal(await status('127.0.0.3'), '200', 'others are answered')
    pass(100)
    for (let i = 0; i < 50; i++) t.equal(await status('127.0.0.2'), '200', 'a moment later it is answered again')
    t.equal(await status('127.0.0.2'), isClosed ? undefined : '200', 'for as many as that moment allows')
  }
})
