import t from 'tap'
import { handleOf } from '../../http/socket-handle.ts'
import { ask, message } from '../http/wire.ts'
import { another, large, one, serveLarge } from './serve-large.ts'
import { until } from './served.ts'

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
