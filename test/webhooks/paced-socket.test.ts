import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { AnswerTurns } from '../../webhooks/answer-turns.ts'
import { longestAnswer, PacedSocket } from '../../webhooks/paced-socket.ts'
import { until } from '../until.ts'

async function connectTo(t: Test, serve: (socket: Socket) => void, turns = new AnswerTurns()): Promise<PacedSocket> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = new PacedSocket({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, longestAnswer, turns)
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  return socket
}

t.test('an answer is read in small parts, up to 64 KiB of raw bytes, whatever they are', async (t) => {
  const oneByteChunks = Buffer.from('1\r\na\r\n'.repeat(200_000))
  const socket = await connectTo(t, (socket) => socket.write(oneByteChunks))
  let length = 0
  let longest = 0
  socket.on('data', (bytes: Buffer) => {
    length += bytes.length
    longest = Math.max(longest, bytes.length)
  })
  const [error] = await once(socket, 'error')
  t.match(error, { message: 'The receiver sent more than 64 KiB.' })
  t.ok(length <= longestAnswer, `${length} bytes`)
  t.ok(longest <= 4096, `${longest} bytes at once`)
})

t.test('the bytes of each answer are counted anew', async (t) => {
  const half = Buffer.alloc(longestAnswer / 2)
  const socket = await connectTo(t, (socket) => socket.on('data', () => socket.write(half)))
  let length = 0
  socket.on('data', (bytes: Buffer) => (length += bytes.length))
  for (let count = 1; count <= 3; count++) {
    socket.restart('ERP')
    socket.write('more')
    while (length < count * half.length) await once(socket, 'data')
  }
  t.notOk(socket.destroyed)
})

t.test('a customer whose answers take long to handle does not hold up the answer to another', async (t) => {
  const turns = new AnswerTurns()
  const receivers: Socket[] = []
  const handled: string[] = []
  const own = [...Array<string>(10).fill('hostile'), 'honest'].map(async (customer) => {
    const socket = await connectTo(t, (receiver) => receivers.push(receiver), turns)
    socket.restart(customer)
    return [customer, socket] as const
  })
  for (const [customer, socket] of await Promise.all(own)) {
    socket.on('data', () => {
      handled.push(customer)
      // As long as OpenSSL takes for a costly chain of certificates.
      for (const begun = performance.now(); performance.now() - begun < 30; );
    })
  }
  await until(() => receivers.length === own.length, 'all are connected')
  // All answers arrive before one of them is read.
  for (const receiver of receivers) receiver.write('a')
  await until(() => handled.length === own.length, 'all answers are handled')
  t.ok(handled.indexOf('honest') <= 3, `${handled.indexOf('honest')} answers were handled before`)
})

t.test('the other end closes the connection, and so does this one', async (t) => {
  const socket = await connectTo(t, (socket) => socket.end('bye'))
  const parts: Buffer[] = []
  socket.on('data', (bytes: Buffer) => parts.push(bytes))
  await once(socket, 'close')
  t.equal(String(Buffer.concat(parts)), 'bye')
})
