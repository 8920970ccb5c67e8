import type { Socket } from 'node:net'
import t from 'tap'
import { handleOf } from '../../http/socket-handle.ts'
import { ask, message, Wire } from '../http/wire.ts'
import { another, one, serveLarge } from './serve-large.ts'
import { until } from './served.ts'

const mebibyte = 1024 * 1024
const isCutOff = (socket: Socket) => handleOf(socket) === undefined

t.test('a client is slow for whom the service has waited for 5 s, as long as it waits', async (t) => {
  const { app, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' })
  const deaf = await openPaused(one)
  const slow = await openPaused(another)
  const sockets = [slow.socket, deaf.socket]
  check(5)
  t.same(app.slowClients(), [], 'nobody is slow yet')
  check()
  t.ok(app.slowClients().every((socket) => sockets.includes(socket)))
  t.equal(app.slowClients().length, 2)
  slow.wire.resume()
  await until(() => slow.socket.writableLength === 0, 'one reads all')
  t.ok(app.slowClients().length === 1 && app.slowClients()[0] === deaf.socket, 'the service waits for the other only')
})

t.test('a reader that takes 64 KiB in a second is not slow, also if there is always something left for it', async (t) => {
  const { app, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' })
  const { wire, socket } = await openPaused(one)
  check()
  const unsent = () => handleOf(socket)?.writeQueueSize ?? 0
  const before = unsent()
  wire.resume()
  await until(() => before - unsent() > 5 * 64 * 1024, 'it reads')
  wire.pause()
  check(5)
  t.ok(unsent() > 0)
  t.equal(app.slowClients().length, 0)
  check(590)
  t.equal(app.slowClients().length, 1, 'it has read nothing since')
})

t.test('a slow reader of the whole catalogue loses its place to a caller of its address who finds none', async (t) => {
  const description = 'x'.repeat(4_000)
  const products = Object.fromEntries(Array.from({ length: 3_500 }, (_, i) => [`P-${i}`, { description }]))
  const { app, key, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' }, products)
  const [first, second, third] = [await key('A', 'order'), await key('B', 'order'), await key('C', 'order')]
  const readers: Socket[] = []
  for (let i = 0; i < 8; i++) readers.push((await openPaused(one, i < 4 ? first : second, 'GET /catalogue')).socket)
  const again = async (credentials = third) => (await ask(t, app, message('GET /catalogue', credentials), one)).status
  const lost = () => readers.filter(isCutOff).length
  check(5)
  t.same([await again(), lost()], [503, 0])
  check()
  t.same([await again(first), lost()], [429, 0], 'whoever has all places of a caller gets none for it')
  t.same([await again(), lost()], [200, 1])
  t.same([await again(), lost()], [200, 1], 'which leaves the place when it has read')
})

t.test('a slow reader leaves the room that its body had to other bodies of its address', async (t) => {
  const { app, key, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600', BODY_LIMIT: String(10 * mebibyte) })
  const body = 'x'.repeat(9 * mebibyte)
  const { socket } = await openPaused(one, await key('A', 'order'), 'GET /large', body)
  const other = await key('B', 'order')
  const again = async () => (await ask(t, app, message('GET /large', other, body), one)).status
  check(5)
  t.same([await again(), isCutOff(socket)], [503, false])
  check()
  t.same([await again(), isCutOff(socket)], [200, true])
})

t.test('whoever sends a body slowly leaves the room for it to other bodies of its address', async (t) => {
  const { app, key, check } = await serveLarge(t, { SEND_TIMEOUT: '600', BODY_LIMIT: String(10 * mebibyte) })
  const body = 'x'.repeat(9 * mebibyte)
  const post = (credentials: Record<string, string>) => message('POST /order', { ...credentials, 'content-type': 'application/xml' }, body)
  const accepted = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
  const wire = await Wire.open(t, app, one)
  wire.send(post(await key('A', 'order')).slice(0, 1_000))
  const socket = await accepted
  const other = await key('B', 'order')
  const again = async () => (await ask(t, app, post(other), one)).status
  await until(async () => (await again()) === 503, 'the room is taken')
  check()
  const before = socket.bytesRead
  wire.send(body.slice(0, 2 * mebibyte))
  await until(() => socket.bytesRead - before === 2 * mebibyte, 'a part of the body has come')
  check(5)
  t.same([await again(), isCutOff(socket)], [503, false], '2 MiB in 5 s is not slow')
  check(30)
  t.same([await again(), isCutOff(socket)], [400, true], 'the other body is read')
})

t.test('if what slow clients hold is not enough, they keep it; and they lose no more than is needed', async (t) => {
  const { app, key, check } = await serveLarge(t, { SEND_TIMEOUT: '600', BODY_LIMIT: String(10 * mebibyte) })
  const post = (credentials: Record<string, string>, length: number) =>
    message('POST /order', { ...credentials, 'content-type': 'application/xml', 'content-length': String(length) })
  /** Begins to send a body of this length. */
  async function begin(from: string, credentials: Record<string, string>, length: number): Promise<Socket> {
    const accepted = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
    const wire = await Wire.open(t, app, from)
    wire.send(`${post(credentials, length)}<`)
    const socket = await accepted
    await until(() => app.connections.open.size > 0 && socket.bytesRead > 0, 'it has begun')
    return socket
  }
  const [a, b, c] = [await key('A', 'order'), await key('B', 'order'), await key('C', 'order')]
  const much = [await begin(one, a, 6 * mebibyte), await begin(one, a, 4 * mebibyte), await begin(one, a, 1 * mebibyte)]
  const little = await begin(one, b, 100_000)
  check(6)
  const fast = await begin(one, c, 4 * mebibyte)
  // Of the 16 MiB of the address, 15.1 are taken, and 11 by slow clients that may lose them.
  const again = async (length: number) => {
    const body = 'x'.repeat(length)
    return (await ask(t, app, message('POST /order', { ...(await key('D', 'order')), 'content-type': 'application/xml' }, body), one))
      .status
  }
  const cut = () => [...much, little, fast].map(isCutOff)
  t.same([await again(5 * mebibyte), cut()], [400, [true, false, false, false, false]], 'the largest one is enough')
  const more = await begin(one, await key('E', 'order'), 6 * mebibyte)
  t.same([await again(8 * mebibyte), cut()], [503, [true, false, false, false, false]], '5 MiB are not enough')
  t.notOk(isCutOff(more))
})
