import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { OnePieceResponse } from '../../http/one-piece-response.ts'
import { maxWholeBody, PacedBodies } from '../../http/paced-bodies.ts'
import { build } from '../build.ts'
import { until } from '../connections/served.ts'
import { ask, listening, message, Wire } from './wire.ts'

const mebibyte = 1024 * 1024
const partSize = 64 * 1024

interface Write {
  readonly size: number
  readonly turn: number
  /** Whether the system had taken everything before. */
  readonly hadRoom: boolean
}

/** Serves a body, and notes what is written to the sockets. */
async function serve(t: Test, body: Buffer) {
  const bodies = new PacedBodies()
  const writes: Write[] = []
  const sockets: Socket[] = []
  let turn = 0
  class Noting extends OnePieceResponse {
    override write(chunk: unknown, ...more: unknown[]): boolean {
      if (Buffer.isBuffer(chunk)) writes.push({ size: chunk.length, turn, hadRoom: this.socket?.writableLength === 0 })
      return super.write(chunk, ...(more as [BufferEncoding]))
    }
  }
  const server = createServer({ ServerResponse: Noting }, (_request, response) => {
    response.pacing = { bodies, caller: 'a' }
    response.writeHead(200, { 'content-length': body.length }).end(body)
  }).listen(0, '127.0.0.1')
  server.on('connection', (socket) => sockets.push(socket))
  await once(server, 'listening')
  let ticker: NodeJS.Immediate
  const tick = () => {
    turn++
    ticker = setImmediate(tick)
  }
  tick()
  t.teardown(() => {
    clearImmediate(ticker)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  const request = (): Socket =>
    connect(address.port, '127.0.0.1')
      .setNoDelay()
      .on('error', () => {})
  return { bodies, writes, sockets, connect: request }
}

const get = 'GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n'

t.test('large bodies are sent in parts, a few in a turn of the event loop, and arrive whole', async (t) => {
  const body = Buffer.from(Array.from({ length: mebibyte + 1 }, (_, i) => i % 251))
  const { writes, connect } = await serve(t, body)
  const received = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = connect()
      client.write(get)
      const bytes = Buffer.concat(await client.toArray())
      return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
    })
  )
  for (const bytes of received) t.ok(bytes.equals(body))
  const parts = writes.filter(({ hadRoom }) => hadRoom)
  t.ok(parts.length > 0)
  t.ok(parts.every(({ size }) => size <= partSize))
  const turns = new Map<number, number>()
  for (const { turn } of parts) turns.set(turn, (turns.get(turn) ?? 0) + 1)
  // The service counts anew in the middle of what is a turn here.
  t.ok(Math.max(...turns.values()) <= 2 * 2)
})

t.test('what a client does not take waits in its socket, where slow readers are found', async (t) => {
  const { writes, sockets, connect } = await serve(t, Buffer.alloc(12 * mebibyte, 'x'))
  const client = connect()
  client.pause().write(get)
  await until(() => (sockets[0]?.writableLength ?? 0) > mebibyte, 'the rest is in the socket')
  t.equal(
    writes.reduce((sum, { size }) => sum + size, 0),
    12 * mebibyte
  )
  client.destroy()
})

t.test('a client that closes its sending side after the answer has begun gets all of it', async (t) => {
  const { writes, connect } = await serve(t, Buffer.alloc(4 * mebibyte, 'x'))
  const client = connect()
  client.write(get)
  await until(() => writes.length > 0, 'the answer has begun')
  client.end()
  const bytes = Buffer.concat(await client.toArray())
  t.equal(bytes.length - bytes.indexOf('\r\n\r\n') - 4, 4 * mebibyte)
})

t.test('bodies that wait for their turns have limited memory, and a client that has gone leaves it', async (t) => {
  const { bodies, writes, connect } = await serve(t, Buffer.alloc(9 * mebibyte, 'x'))
  const [small, most, more] = [maxWholeBody, 16 * mebibyte, 16 * mebibyte + 1].map((size) => Buffer.alloc(size))
  t.same(
    [small, most, more, 'x'.repeat(mebibyte)].map((body) => bodies.takes(body)),
    [false, true, false, false]
  )
  for (let i = 1; i <= 5; i++) {
    const client = connect()
    client.write(get)
    await until(() => writes.length > 0, 'the answer has begun')
    client.resetAndDestroy()
    await until(() => bodies.takes(most), 'the room is free')
    writes.length = 0
  }
})

t.test('a large answer of the shop arrives whole, to GET and after a write, and HEAD has its length', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': {} } })
  const sizes = [maxWholeBody, maxWholeBody + 1, 3 * mebibyte + 1, 24 * mebibyte]
  for (const size of sizes) {
    app.get(`/${size}`, async (_request, reply) => reply.send(Buffer.alloc(size, 'x')))
    app.post(`/${size}`, async (_request, reply) => reply.code(201).send(Buffer.alloc(size, 'y')))
  }
  await listening(app)
  for (const size of sizes) {
    const headers = { 'content-length': String(size) }
    const got = await ask(t, app, message(`GET /${size}`))
    t.match(got, { status: 200, headers })
    t.equal(got.body, 'x'.repeat(size))
    t.match(await ask(t, app, message(`HEAD /${size}`)), { status: 200, headers, body: '' })
    const posted = await ask(t, app, message(`POST /${size}`))
    t.match(posted, { status: 201, headers })
    t.equal(posted.body, 'y'.repeat(size))
  }
  const reader = await Wire.open(t, app)
  reader.pause().send(`${message(`GET /${3 * mebibyte + 1}`)}${message('GET /product/ABC-1')}`)
  t.match(await ask(t, app, message('GET /product/ABC-1')), { status: 200 }, 'others are answered')
  reader.resume()
  t.equal((await reader.answer()).body.length, 3 * mebibyte + 1)
  t.match(await reader.answer(), { status: 200 }, 'and the next request of the same connection')
})
