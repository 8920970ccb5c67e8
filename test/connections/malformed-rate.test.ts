import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'

async function serve(t: Test, settings: Readonly<Record<string, string>> = {}) {
  stopClock(t)
  const { app } = await build(t, { settings: { RATE_LIMIT: '3', ...settings } })
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  return async function status(bytes: string, from = '127.0.0.2'): Promise<string | undefined> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    socket.write(bytes)
    const answer = await text(socket).catch(() => '')
    return answer.split(' ')[1]
  }
}

const garbage = 'garbage\r\n\r\n'

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
