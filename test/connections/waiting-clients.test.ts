import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'
import { countNewClients, until } from './served.ts'

const limit = 20

/** A shop in which no client gets its socket until `giveSockets` is called. */
async function serve(t: Test) {
  const { app } = await build(t, { settings: { MAX_CONNECTIONS: String(limit) } })
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  const seen = countNewClients(app)
  const { turns } = app.connections
  const { schedule } = turns
  const held: (() => void)[] = []
  turns.schedule = (caller, start) => held.push(() => schedule.call(turns, caller, start))
  let came = 0
  return {
    app,
    seen,
    /** Opens a connection from an address. Resolves when the service has accepted it, or has closed it at once. */
    async come(from: string): Promise<Socket> {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => undefined)
      t.teardown(() => socket.destroy())
      await once(socket, 'connect')
      came++
      await until(() => seen.accepted === came, 'the client is accepted')
      return socket
    },
    giveSockets() {
      turns.schedule = schedule
      for (const start of held) start()
    }
  }
}

/** Asks for a product. @returns the status; undefined if the connection was closed without an answer */
async function look(socket: Socket): Promise<string | undefined> {
  socket.write(message('GET /product/ABC-1', { connection: 'close' }))
  return (await text(socket).catch(() => '')).split(' ')[1]
}

/** When all clients have gone, each place is free once: as many clients of one address fit as the limit allows, and no more. */
async function checkPlaces(t: Test, { app, come }: Pick<Awaited<ReturnType<typeof serve>>, 'app' | 'come'>): Promise<void> {
  await until(() => app.connections.open.size === 0 && app.connections.waiting.isEmpty, 'all are gone')
  const clients: Socket[] = []
  for (let i = 0; i < limit; i++) clients.push(await come('127.0.0.9'))
  t.equal(await look(await come('127.0.0.9')), undefined, 'there is no place above the limit')
  t.same(await Promise.all(clients.map(look)), Array(limit).fill('200'), 'every place is free again')
  await until(() => app.connections.open.size === 0, 'all are gone')
}

t.test('clients that wait for their socket count: at the limit, those of the crowd are closed for newcomers', async (t) => {
  const { app, seen, come, giveSockets } = await serve(t)
  const crowd: Socket[] = []
  for (let i = 0; i < limit; i++) crowd.push(await come('127.0.0.2'))
  const newcomers: Socket[] = []
  for (let i = 3; i < 8; i++) newcomers.push(await come(`127.0.0.${i}`))
  const refused = await come('127.0.0.2')
  t.equal(await look(refused), undefined, 'the crowd itself gets no more')
  t.equal(seen.sockets, 0, 'nobody has a socket yet')
  giveSockets()
  t.same(await Promise.all(newcomers.map(look)), Array(5).fill('200'))
  const answers = await Promise.all(crowd.map(look))
  t.same(answers, [...Array(5).fill(undefined), ...Array(limit - 5).fill('200')], 'those who waited longest were closed')
  t.equal(seen.sockets, limit)
  await checkPlaces(t, { app, come })
  await checkPlaces(t, { app, come })
})

t.test('a client of which Node makes no socket gives its place back', async (t) => {
  const { app, seen, come, giveSockets } = await serve(t)
  const { server } = app
  const { maxConnections } = server
  const [first, second] = [await come('127.0.0.2'), await come('127.0.0.2')]
  server.maxConnections = 1
  giveSockets()
  t.same(await Promise.all([first, second].map(look)), ['200', undefined])
  t.equal(seen.sockets, 1)
  server.maxConnections = maxConnections
  await checkPlaces(t, { app, come })
})

t.test('a client that resets its connection while it waits gets no socket, and its place is free again', async (t) => {
  const { app, seen, come, giveSockets } = await serve(t)
  for (let i = 0; i < limit; i++) (await come('127.0.0.2')).resetAndDestroy()
  giveSockets()
  await until(() => app.connections.waiting.isEmpty, 'the turns of all have come')
  t.equal(seen.sockets, 0)
  await checkPlaces(t, { app, come })
})

t.test('a service that stops answers the clients that wait for their socket, although its listener is closed by then', async (t) => {
  const { app, seen, come, giveSockets } = await serve(t)
  const clients = [await come('127.0.0.2'), await come('127.0.0.3')]
  const answers = clients.map(look)
  app.connections.disableKeepAlive()
  let isDrained = false
  const drained = app.connections.drain().then(() => (isDrained = true))
  await until(() => !app.server.listening, 'the listener is closed')
  t.notOk(isDrained)
  t.equal(seen.sockets, 0)
  giveSockets()
  t.same(await Promise.all(answers), ['200', '200'])
  await drained
  t.ok(app.connections.waiting.isEmpty)
})
