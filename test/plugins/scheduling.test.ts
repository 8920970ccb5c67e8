import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { readConfig } from '../../config.ts'
import draining from '../../plugins/draining.ts'
import scheduling from '../../plugins/scheduling.ts'
import { blockThread } from '../block-thread.ts'
import { message } from '../http/wire.ts'

async function serve(t: Test) {
  const app = Fastify()
  await app.register(draining, { config: readConfig({}) })
  await app.register(scheduling)
  const served: string[] = []
  app.get('/work', async ({ ip }) => {
    served.push(ip)
    blockThread(8)
    return ''
  })
  app.addContentTypeParser('text/plain', { parseAs: 'buffer', bodyLimit: 2 ** 24 }, async (_request: unknown, body: Buffer) => body)
  app.post('/body', async ({ body }) => String((body as Buffer).length))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  async function open(from: string) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  return { served, open }
}

t.test('a request does not wait behind all those that another address has sent before', async (t) => {
  const { served, open } = await serve(t)
  const crowd = await Promise.all(Array.from({ length: 40 }, () => open('127.0.0.2')))
  const customer = await open('127.0.0.3')
  const answers = [...crowd, customer].map((socket) => once(socket, 'data'))
  // All requests arrive before the thread can handle the first one.
  for (const socket of [...crowd, customer]) socket.write(message('GET /work'))
  await Promise.all(answers)
  t.ok(served.indexOf('127.0.0.3') < 20, `served as number ${served.indexOf('127.0.0.3')}`)
  t.equal(served.length, 41, 'and nobody is left out')
})

t.test('a large body arrives whole, part by part', async (t) => {
  const { open } = await serve(t)
  const large = 'x'.repeat(5_000_000)
  for (const request of [
    message('POST /body', { 'content-type': 'text/plain' }, large),
    `${message('POST /body', { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' })}4c4b40\r\n${large}\r\n0\r\n\r\n`
  ]) {
    const socket = await open('127.0.0.2')
    socket.write(request)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    t.match(answer.toString(), /5000000$/)
  }
})
