import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { stopReading } from '../../http/connection.ts'
import { serveConnections } from './served.ts'

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const requestsOfOneRead = 2_500

async function connectTo(t: Test, handle: RequestListener) {
  const { server, open } = await serveConnections(t, handle)
  const connected = once(server, 'connection') as Promise<[Socket]>
  const client = open()
  const [socket] = await connected
  return { server, client, socket }
}

/** Counts the requests that are parsed of one read with many of them, until the connection closes. */
async function parsedOf(t: Test, handle: RequestListener): Promise<number> {
  let parsed = 0
  const { server, client, socket } = await connectTo(t, handle)
  // The first listener of a server's requests is called for each request that is parsed.
  server.prependListener('request', () => parsed++)
  client.resume().end(get.repeat(requestsOfOneRead))
  await once(socket, 'close')
  return parsed
}

for (const [name, handle] of [
  ['the connection is reset', ({ socket }: IncomingMessage) => socket.resetAndDestroy()],
  ['the connection is destroyed', ({ socket }: IncomingMessage) => socket.destroy()],
  [
    'what arrives is discarded',
    ({ socket }: IncomingMessage, response: ServerResponse) => {
      stopReading(socket)
      response.setHeader('connection', 'close').end()
    }
  ]
] as const) {
  t.test(`once ${name}, no further request is parsed`, async (t) => {
    t.equal(await parsedOf(t, handle), 1)
  })
}

t.test('requests without a response get errors without a stack when the connection closes, and other errors have one', async (t) => {
  const errors: Error[] = []
  await parsedOf(t, (request, response) => {
    request.on('error', (error) => errors.push(error))
    response.on('close', () => errors.push(new Error('another')))
    request.socket.destroy()
  })
  t.match(errors, { length: 2 })
  const [aborted, another] = errors.sort((a, b) => Number(a.message === 'another') - Number(b.message === 'another'))
  t.match(aborted, { message: 'aborted' })
  t.notMatch(aborted?.stack, /\n +at /)
  t.match(another?.stack, /\n +at /)
})

t.test('the last response is sent as a whole, although an offer to change the protocol follows that is not accepted', async (t) => {
  const [chunk, chunks] = [Buffer.alloc(65_536, 'x'), 200]
  const { client } = await connectTo(t, ({ socket }, response) => {
    stopReading(socket)
    response.setHeader('connection', 'close')
    Readable.from(Array<Buffer>(chunks).fill(chunk)).pipe(response)
  })
  client.write(`${get}GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n`)
  t.ok((await text(client)).length > chunks * chunk.length)
})
