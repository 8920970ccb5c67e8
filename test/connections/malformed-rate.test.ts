import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { build } from '../build.ts'
import { listening, message, Wire } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'

async function serveShop(t: Test, settings: Readonly<Record<string, string>> = {}) {
  stopClock(t)
  const shop = await build(t, { settings: { RATE_LIMIT: '3', ...settings } })
  await listening(shop.app)
  const { port } = shop.app.server.address() as AddressInfo
  async function status(bytes: string, from = '127.0.0.2'): Promise<string | undefined> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    socket.write(bytes)
    const answer = await text(socket).catch(() => '')
    return answer.split(' ')[1]
  }
  return { ...shop, status }
}

async function serve(t: Test, settings: Readonly<Record<string, string>> = {}) {
  return (await serveShop(t, settings)).status
}

const garbage = 'garbage\r\n\r\n'

/** An order whose body is malformed. */
function badChunk(headers: Readonly<Record<string, string>> = {}): string {
  return `${message('POST /order', { 'content-type': 'application/xml', 'transfer-encoding': 'chunked', ...headers })}zz\r\n`
}

t.test('a request that the parser refuses is counted, and above the limit its sender gets no answer', async (t) => {
  const status = await serve(t)
  for (let i = 0; i < 3; i++) t.equal(await status(garbage), '400')
  t.equal(await status(garbage), undefined)
  t.equal(await status(message('GET /product/ABC-1', { connection: 'close' })), '429')
  t.equal(await status(garbage, '127.0.0.3'), '400', 'others are told')
})

t.test('every malformed request from a trusted proxy is answered, because its clients share the address', async (t) => {
  const status = await serve(t, { TRUST_PROXY: '127.0.0.2' })
  for (let i = 0; i < 6; i++) t.equal(await status(garbage), '400')
})

t.test('the last request within the limit is told that its body is malformed, and the next one gets no answer', async (t) => {
  const status = await serve(t)
  for (let i = 0; i < 3; i++) t.equal(await status(badChunk()), '400')
  t.equal(await status(badChunk()), undefined)
  t.equal(await status(badChunk(), '127.0.0.3'), '400', 'others are told')
})

t.test('a malformed body that comes after its header section is judged in the same way', async (t) => {
  const { app } = await serveShop(t, { RATE_LIMIT: '1' })
  const wire = await Wire.open(t, app, '127.0.0.2')
  wire.send(badChunk({ expect: '100-continue' }).slice(0, -4))
  t.equal((await wire.answer()).status, 100)
  t.equal((await wire.send('zz\r\n').answer()).status, 400)
})

t.test('a malformed body counts with the key that its request shows, and not with the address', async (t) => {
  const { app, key, status } = await serveShop(t)
  const customer = await key('ACME', 'order')
  const inject = () => app.inject({ url: '/orders', headers: customer, remoteAddress: '127.0.0.4' })
  t.equal((await inject()).statusCode, 200, 'the key is known as valid')
  for (let i = 0; i < 4; i++) await status(garbage)
  t.equal(await status(badChunk(customer)), '400', 'the address is over its limit, and the key is not')
  while ((await inject()).statusCode !== 429);
  t.equal(await status(badChunk(customer), '127.0.0.3'), undefined, 'the key is over its limit, and the address is not')
})

t.test('a malformed request that was sent ahead is counted too, and the requests before it are answered', async (t) => {
  const { app, status } = await serveShop(t)
  const get = message('GET /product/ABC-1')
  const answers = async (bytes: string) =>
    [...(await (await Wire.open(t, app, '127.0.0.2')).send(bytes).rest()).matchAll(/^HTTP\/1.1 (\d+)/gm)].map(([, code]) => code)
  t.same(await answers(get + badChunk()), ['200', '400'])
  t.same(await answers(get + badChunk()), ['200'])
  t.equal(await status(garbage), undefined)
})

t.test('whoever is far over the limit gets no answer to a malformed body, at once', async (t) => {
  const { app, status } = await serveShop(t)
  app.countOutside('127.0.0.2', 7)
  for (const bytes of [garbage, badChunk()]) t.equal(await status(bytes), undefined)
})
