import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build, orderXml, xml } from '../build.ts'
import { listening, message } from '../http/wire.ts'

const bound = 20

async function serve(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const { app } = await build(t, { settings: { MAX_CONNECTIONS: String(bound), ...settings } })
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  const open = () => [...app.connections.open].length
  async function come(from: string): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => undefined)
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket.resume()
  }
  /** @returns the status, or undefined where the connection is closed instead */
  async function look(socket: Socket): Promise<string | undefined> {
    socket.write(message('GET /product/ABC-1'))
    // `once` of node:events would reject where the connection is reset.
    const answer = await new Promise<Buffer | undefined>((resolve) => socket.once('data', resolve).once('close', () => resolve(undefined)))
    return answer?.toString().split(' ')[1]
  }
  return { app, open, come, look }
}

t.test('when no room is left, the address with the most connections loses one to a newcomer', async (t) => {
  const { app, open, come, look } = await serve(t)
  app.server.on('drop', () => t.fail('the limit of Node itself refuses nobody'))
  const crowd = await Promise.all(Array.from({ length: bound }, () => come('127.0.0.2')))
  while (open() < bound) await pause(5)
  const newcomers = await Promise.all(Array.from({ length: 10 }, (_, i) => come(`127.0.0.${3 + i}`)))
  t.same(await Promise.all(newcomers.map(look)), Array(10).fill('200'))
  while (crowd.filter(({ destroyed }) => !destroyed).length > bound - 10) await pause(5)
  t.equal(open(), bound)
  app.server.once('connection', () => t.fail('nothing is set up for a client that is refused'))
  t.equal(await look(await come('127.0.0.2')), undefined, 'and is let in itself no more')
})

/** A crowd of one address that has sent a request each, none of which is answered until `answer` is called. */
async function crowdOf(t: Test, request: string, size = bound) {
  const service = await serve(t, { MAX_CONNECTIONS: String(size) })
  const { app, come } = service
  let answer = () => {}
  const held = new Promise<void>((resolve) => (answer = resolve))
  const { revision, placeOrder } = app.store
  app.store.revision = () => held.then(revision)
  app.store.placeOrder = (placing) => held.then(() => placeOrder(placing))
  const crowd = await Promise.all(Array.from({ length: size }, () => come('127.0.0.2')))
  for (const socket of crowd) socket.write(request)
  while ([...app.connections.open].filter(({ pendingResponses }) => pendingResponses.size > 0).length < size) await pause(5)
  return { ...service, crowd, answer }
}

t.test('the address with the most connections gets no other, and no connection is closed while a write is carried out', async (t) => {
  const { come, look, open, crowd, answer } = await crowdOf(t, message('POST /order', xml, orderXml()))
  t.equal(await look(await come('127.0.0.2')), undefined)
  t.equal(await look(await come('127.0.0.3')), undefined, 'there is none to give up')
  t.equal(open(), bound)
  answer()
  await Promise.all(crowd.map((socket) => once(socket, 'data')))
  t.equal(await look(await come('127.0.0.3')), '200')
})

t.test('first the connections are closed whose client sends or reads slowly', async (t) => {
  const { app, come, look } = await serve(t)
  app.store.revision = () => new Promise(() => {})
  const slow = bound / 2
  const crowd = await Promise.all(Array.from({ length: bound }, () => come('127.0.0.2')))
  for (const [i, socket] of crowd.entries())
    socket.write(i < bound - slow ? message('GET /products') : message('POST /order', { ...xml, 'content-length': '100' }))
  while ([...app.connections.open].filter(({ pendingResponses }) => pendingResponses.size > 0).length < bound) await pause(5)
  const newcomers = await Promise.all(Array.from({ length: slow }, (_, i) => come(`127.0.0.${3 + i}`)))
  t.same(await Promise.all(newcomers.map(look)), Array(slow).fill('200'))
  const left = [...app.connections.open].filter(({ socket }) => socket.remoteAddress === '127.0.0.2')
  t.same(new Set(left.map(({ lastRequest }) => lastRequest?.method)), new Set(['GET']))
})

for (const [what, request] of [
  ['only reads', message('GET /products')],
  ['has sent only a part of a write', message('POST /order', { ...xml, 'content-length': '100' })]
] as const) {
  t.test(`an address that ${what} loses connections to newcomers although all of them wait for an answer`, async (t) => {
    const { come, look, open } = await crowdOf(t, request)
    const newcomers = await Promise.all(Array.from({ length: 10 }, (_, i) => come(`127.0.0.${3 + i}`)))
    t.same(await Promise.all(newcomers.map(look)), Array(10).fill('200'))
    t.equal(open(), bound)
  })
}

t.test('however many connections an address has, few of them are looked at for each newcomer', async (t) => {
  const { app, come, look } = await crowdOf(t, message('GET /products'), 300)
  let looks = 0
  const looked = () => {
    looks++
    return false
  }
  for (const connection of app.connections.open) Object.defineProperty(connection, 'isRefusalDelayed', { get: looked })
  t.equal(await look(await come('127.0.0.3')), '200')
  t.ok(looks > 0 && looks <= 100, `${looks} were looked at`)
})

t.test('an address whose requests wait to be refused loses connections to newcomers', async (t) => {
  const { app, come, look } = await serve(t, { RATE_LIMIT: '1' })
  for (let i = 0; i < 3; i++) await app.inject({ url: '/product/ABC-1', remoteAddress: '127.0.0.2' })
  const crowd = await Promise.all(Array.from({ length: bound }, () => come('127.0.0.2')))
  for (const socket of crowd) socket.write(message('GET /product/ABC-1'))
  // They are answered one after the other, so a few have their answer by then.
  const answered = new Set<Socket>()
  for (const socket of crowd) socket.once('data', () => answered.add(socket))
  while ([...app.connections.open].filter(({ isRefusalDelayed }) => isRefusalDelayed).length + answered.size < bound) await pause(5)
  const newcomers = await Promise.all(Array.from({ length: 10 }, (_, i) => come(`127.0.0.${3 + i}`)))
  t.same(await Promise.all(newcomers.map(look)), Array(10).fill('200'))
})
