import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { handleOf } from '../../http/socket-handle.ts'
import { type BuildOptions, build } from '../build.ts'
import { ask, listening, message, Wire } from '../http/wire.ts'
import { until } from './served.ts'

/** More than the system takes for a reader that reads nothing. */
const large = 24 * 1024 * 1024

const [one, another] = ['127.0.0.1', '127.0.0.2'] as const

/** A shop that checks its readers only when `check` is called, however long anything takes. A check stands for a second. */
async function serveLarge(t: Test, settings: Readonly<Record<string, string>>, products?: BuildOptions['products']) {
  const checks: (() => void)[] = []
  const start = (check: () => void) => {
    checks.push(check)
    return { unref: () => undefined }
  }
  t.intercept(globalThis, 'setInterval', { value: start })
  const { app, key } = await build(t, { settings, ...(products ? { products } : {}) })
  app.get('/large', async (_request, reply) => reply.send(Buffer.alloc(large, 'x')))
  await listening(app)
  const check = (times = 1) => {
    for (let i = 0; i < times; i++) for (const run of checks) run()
  }
  /** Connects a client that asks for a large response and does not read it yet. */
  async function openPaused(from: string, headers: Readonly<Record<string, string>> = {}, start = 'GET /large', body?: string) {
    const socket = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
    const wire = await Wire.open(t, app, from)
    wire.pause().send(message(start, headers, body))
    const sending = await socket
    await until(() => sending.writableLength > 0, 'the response waits to be sent')
    return { wire, socket: sending }
  }
  return { app, key, check, openPaused }
}

t.test('a client that reads nothing of a response for SEND_TIMEOUT is cut off; one that reads slowly is not', async (t) => {
  const { check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '2' })
  const deaf = await openPaused(one)
  const slow = await openPaused(another)
  const unsent = () => handleOf(slow.socket)?.writeQueueSize ?? 0
  while (!deaf.socket.destroyed) {
    const before = unsent()
    slow.wire.resume()
    await until(() => before === 0 || unsent() < before, 'the slow client reads something')
    slow.wire.pause()
    check()
  }
  t.notOk(slow.socket.destroyed)
  t.equal((await slow.wire.resume().answer()).body.length, large)
})

t.test('an address has 16 MiB of unsent responses at most: then it gets 503, until clients that read nothing are cut off', async (t) => {
  const { app, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' })
  const [unread, others] = [(await openPaused(one)).socket, (await openPaused(another)).socket]
  const again = () => ask(t, app, message('GET /large'), one)
  t.match(await again(), { status: 503, headers: { 'retry-after': '5' } })
  t.equal((await ask(t, app, message('GET /product/ABC-1'), one)).status, 200)
  while ((await again()).status === 503) check()
  t.same([unread.destroyed, others.destroyed], [true, false], 'its own client was cut off, and no other')
})

t.test('the addresses of one network of IPv6 have that maximum together', async (t) => {
  const { app, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600', TRUST_PROXY: '127.0.0.0/8' })
  await openPaused(one, { 'x-forwarded-for': '2001:db8::1' })
  const from = async (address: string) => (await ask(t, app, message('GET /large', { 'x-forwarded-for': address }), another)).status
  t.equal(await from('2001:db8::2'), 503)
  t.equal(await from('2001:db8:0:1::1'), 200, 'another network has its own')
})

t.test('all addresses have 64 MiB of unsent responses at most: over that, one with the most is cut off', async (t) => {
  const { app, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' })
  const unread = [(await openPaused(one)).socket, (await openPaused(another)).socket]
  t.equal((await ask(t, app, message('GET /large'), '127.0.0.3')).status, 200)
  t.same(unread.map(({ destroyed }) => destroyed).sort(), [false, true])
})

t.test('of some readers, the slowest is cut off for whom the service has waited for 10 s, if it is slow', async (t) => {
  const { app, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' })
  const deaf = await openPaused(one)
  const slow = await openPaused(another)
  const sockets = [slow.socket, deaf.socket]
  check(10)
  t.equal(app.cutOffSlowest(sockets), undefined, 'nobody is slow yet')
  check()
  t.equal(app.cutOffSlowest([slow.socket]), slow.socket, 'who has not read is slow, alone too')
  t.equal(app.cutOffSlowest(sockets), deaf.socket)
  t.equal(app.cutOffSlowest(sockets), undefined, 'nobody is left')
  await until(() => sockets.every(({ destroyed }) => destroyed), 'both are closed')
})

t.test('a reader that takes 64 KiB in a second is not slow, also if there is always something left for it', async (t) => {
  const { app, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' })
  const { wire, socket } = await openPaused(one)
  check()
  const unsent = () => handleOf(socket)?.writeQueueSize ?? 0
  const before = unsent()
  wire.resume()
  await until(() => before - unsent() > 10 * 64 * 1024, 'it reads')
  wire.pause()
  check(10)
  t.ok(unsent() > 0)
  t.equal(app.cutOffSlowest([socket]), undefined)
  check(590)
  t.equal(app.cutOffSlowest([socket]), socket)
})

t.test('a slow reader of the whole catalogue loses its place to a caller of its address who finds none', async (t) => {
  const description = 'x'.repeat(4_000)
  const products = Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`P-${i}`, { description }]))
  const { app, key, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600' }, products)
  const [first, second, third] = [await key('A', 'order'), await key('B', 'order'), await key('C', 'order')]
  const readers: Socket[] = []
  for (let i = 0; i < 8; i++) readers.push((await openPaused(one, i < 4 ? first : second, 'GET /catalogue')).socket)
  const again = async (credentials = third) => (await ask(t, app, message('GET /catalogue', credentials), one)).status
  const lost = () => readers.filter((socket) => handleOf(socket) === undefined).length
  check(10)
  t.same([await again(), lost()], [503, 0])
  check()
  t.same([await again(first), lost()], [429, 0], 'whoever has all places of a caller gets none for it')
  t.same([await again(), lost()], [200, 1])
  t.same([await again(), lost()], [200, 1], 'which leaves the place when it has read')
})

t.test('a slow reader leaves the room that its body had to other bodies of its address', async (t) => {
  const { app, key, check, openPaused } = await serveLarge(t, { SEND_TIMEOUT: '600', BODY_LIMIT: String(10 * 1024 * 1024) })
  const body = 'x'.repeat(9 * 1024 * 1024)
  const { socket } = await openPaused(one, await key('A', 'order'), 'GET /large', body)
  const other = await key('B', 'order')
  const again = async () => (await ask(t, app, message('GET /large', other, body), one)).status
  const isCutOff = () => handleOf(socket) === undefined
  check(10)
  t.same([await again(), isCutOff()], [503, false])
  check()
  t.same([await again(), isCutOff()], [200, true])
})
