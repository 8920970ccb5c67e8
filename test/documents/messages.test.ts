import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { receiveMessages, sendMessage } from '../../documents/messages.ts'

/** The two ends of a connection. */
async function pair(t: Test): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  const accepted = once(server, 'connection')
  const client = connect(address.port, '127.0.0.1')
  const [served] = await accepted
  t.teardown(() => {
    client.destroy()
    served.destroy()
    server.close()
  })
  return [client, served]
}

const bytes = (length: number, from = 0) => Buffer.from(Array.from({ length }, (_, i) => (i + from) % 251))

const messages = [
  'ready',
  [{ kind: 'write', text: 'small', context: { base: '', known: undefined } }],
  [
    { kind: 'read', bytes: bytes(10), limits: { marks: 3 } },
    { kind: 'read', bytes: bytes(0) },
    { kind: 'compare', wanted: bytes(70_000, 1), active: bytes(5_000, 2) }
  ],
  [
    { result: bytes(300_000, 3), spent: 1.5 },
    { result: undefined, spent: 0 },
    { result: { text: 'wide: €, 😀', known: new Map([['a', 1]]) } }
  ],
  []
]

t.test('messages arrive as they were sent, however the connection cuts them', async (t) => {
  for (const size of [7, 1_000, 65_536, 1_000_000]) {
    const sent: Buffer[] = []
    const sink = new Writable({
      write(part, _encoding, done) {
        sent.push(part)
        done()
      }
    })
    for (const message of messages) sendMessage(sink, message)
    await once(sink.end(), 'finish')
    const whole = Buffer.concat(sent)
    const received: unknown[] = []
    const stream = new PassThrough()
    receiveMessages(stream, (message) => received.push(message))
    for (let i = 0; i < whole.length; i += size) if (!stream.write(whole.subarray(i, i + size))) await once(stream, 'drain')
    while (received.length < messages.length) await new Promise(setImmediate)
    t.strictSame(received, messages, `${size} bytes at a time`)
  }
})

t.test('bytes that were received belong to their message alone', async (t) => {
  const [client, served] = await pair(t)
  const received: { bytes: Buffer }[] = []
  receiveMessages(served, (message: { bytes: Buffer }) => received.push(message))
  for (const from of [1, 2]) sendMessage(client, { bytes: bytes(100_000, from) })
  while (received.length < 2) await once(served, 'data')
  received[0]?.bytes.fill(0)
  t.strictSame(received[1]?.bytes, bytes(100_000, 2))
})

t.test('a large message is received in parts, and others have their turns between them', async (t) => {
  const [client, served] = await pair(t)
  const length = 8 * 1024 * 1024
  let fullReads = 0
  let most = 0
  let isCounting = false
  served.on('data', (chunk: Buffer) => {
    if (chunk.length >= 64 * 1024) most = Math.max(most, ++fullReads)
    if (isCounting) return
    isCounting = true
    setImmediate(() => {
      isCounting = false
      fullReads = 0
    })
  })
  const whole = new Promise<Buffer>((resolve) => receiveMessages(served, resolve))
  sendMessage(client, Buffer.alloc(length, 'x'))
  t.equal((await whole).length, length)
  t.equal(most, 1, 'full reads in one turn of the event loop')
})
