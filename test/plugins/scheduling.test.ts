import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate as nextTurnOfLoop } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { readConfig } from '../../config.ts'
import draining from '../../plugins/draining.ts'
import scheduling from '../../plugins/scheduling.ts'
import { blockThread } from '../block-thread.ts'
import { message } from '../http/wire.ts'

async function serve(t: Test, addRoutes: (app: FastifyInstance) => void = () => undefined) {
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
  addRoutes(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  async function open(from: string) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  return { app, served, open }
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

t.test('work that waits for the turn of its address is not done once its client has left', async (t) => {
  let [begun, done] = [0, 0]
  let letGo: () => void = () => undefined
  const gone = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const { app, open } = await serve(t, (app) => {
    app.get('/form', async (request) => {
      if (++begun <= 40) await gone
      return request.inTurn(() => String(++done))
    })
  })
  const clients = await Promise.all(Array.from({ length: 40 }, () => open('127.0.0.2')))
  for (const client of clients) client.write(message('GET /form'))
  while (begun < clients.length) await nextTurnOfLoop()
  for (const client of clients) client.destroy()
  while (app.connections.open.size > 0) await nextTurnOfLoop()
  letGo()
  const customer = await open('127.0.0.2')
  customer.write(message('GET /form'))
  const [answer] = (await once(customer, 'data')) as [Buffer]
  t.match(answer.toString(), /\r\n\r\n1$/)
  t.equal(done, 1)
})
