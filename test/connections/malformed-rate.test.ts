import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'

t.test('what the parser refuses counts as a request, and above the limit its sender is not even told', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  async function status(bytes: string, from = '127.0.0.2'): Promise<string | undefined> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    socket.write(bytes)
    const answer = await text(socket).catch(() => '')
    return answer.split(' ')[1]
  }
  const garbage = 'garbage\r\n\r\n'
  for (let i = 0; i < 3; i++) t.equal(await status(garbage), '400')
  t.equal(await status(garbage), undefined)
  t.equal(await status(message('GET /product/ABC-1', { connection: 'close' })), '429')
  t.equal(await status(garbage, '127.0.0.3'), '400', 'others are told')
})
