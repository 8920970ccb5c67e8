import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { connectionOf } from '../../http/connection.ts'
import { serveConnections, until } from './served.ts'

const sentAhead = 60
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'
const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'
const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** Sends requests ahead on one connection, and does not answer the first one before `go`. */
async function sending(t: Test, requests: string) {
  let parsed = 0
  let go: () => void = () => {}
  const going = new Promise<void>((resolve) => (go = resolve))
  const bodies: string[] = []
  const { server, connections, open } = await serveConnections(t, async (request: IncomingMessage, response: ServerResponse) => {
    await going
    bodies.push(await text(request))
    response.end()
  })
  // The first listener of a server's requests is called for each request that is parsed.
  server.prependListener('request', () => parsed++)
  const client = open()
  const answers = text(client)
  client.write(requests)
  while (parsed === 0) await new Promise(setImmediate)
  return { connections, bodies, answers, go, parsed: () => parsed }
}

const count = (answers: string) => answers.split('HTTP/1.1 200').length - 1

for (const [name, request, body] of [
  ['requests', get, ''],
  ['requests with a body', post, 'abc'],
  ['requests with a body in chunks', chunked, 'abc']
] as const) {
  t.test(`${name} that were sent ahead are parsed when it is their turn, and answered in order (RFC 9112 9.3.2)`, async (t) => {
    const { bodies, answers, go, parsed } = await sending(t, request.repeat(sentAhead) + last)
    t.equal(parsed(), 2, 'one is handled, and one waits')
    go()
    t.equal(count(await answers), sentAhead + 1)
    t.same(bodies, [...Array(sentAhead).fill(body), ''])
  })
}

t.test('of megabytes that were sent ahead little is read before the first answer', async (t) => {
  const { connections, answers } = await sending(t, get.repeat(500_000))
  // They never come: the client goes when the test ends.
  answers.catch(() => undefined)
  // Node reads up to 64 KiB in a turn of the event loop.
  for (let turns = 0; turns < 2_000; turns++) await new Promise(setImmediate)
  const [{ socket } = { socket: undefined }] = connections.open
  const read = socket?.bytesRead ?? 0
  t.ok(read > 0 && read <= 1024 * 1024, `${read} bytes`)
})

t.test(
  'when much was sent ahead in all, an address that has much of it loses the connection that sends more, and the others are answered',
  async (t) => {
    let go: () => void = () => {}
    const going = new Promise<void>((resolve) => (go = resolve))
    const handle = async (_request: IncomingMessage, response: ServerResponse) => {
      await going
      response.end()
    }
    const { server, open } = await serveConnections(t, handle, { total: 7_000, perNetwork: 4_000 })
    const sockets: Socket[] = []
    server.on('connection', (socket: Socket) => sockets.push(socket))
    const padded = get.replace('Host: a', `Host: a\r\nX: ${'x'.repeat(1_000)}`)
    /** Sends requests of 1 KB ahead, and waits until the service has read them. */
    async function send(from: string, requests: number): Promise<{ answers: Promise<string> }> {
      const before = sockets.length
      const client = open(from)
      const answers = text(client).catch(() => '')
      client.write(get + get + padded.repeat(requests) + last)
      const isRead = (socket: Socket) => socket.destroyed || connectionOf(socket)?.queued.length === 1
      await until(() => sockets.slice(before).some(isRead), 'they are read')
      return { answers }
    }
    await send('127.0.0.2', 6)
    const little = await send('127.0.0.3', 2)
    await send('127.0.0.2', 1)
    t.same(
      sockets.map(({ destroyed }) => destroyed),
      [false, false, true]
    )
    go()
    t.equal(count(await little.answers), 5)
  }
)

t.test('a service that stops answers all requests that were sent ahead, and only the last answer closes (RFC 9112 9.6)', async (t) => {
  const { connections, answers, go, parsed } = await sending(t, (get + post).repeat(sentAhead / 2))
  connections.disableKeepAlive()
  t.equal(parsed(), sentAhead)
  go()
  const [drained] = await Promise.all([answers, connections.drain()])
  t.equal(count(drained), sentAhead)
  t.ok(drained.lastIndexOf('HTTP/1.1 200') < drained.toLowerCase().indexOf('connection: close'))
})

t.test('what waits behind an answer that is not read is parsed when the service stops, and answered', async (t) => {
  const large = Buffer.alloc(16 * 1024 * 1024, 'x')
  const { connections, open } = await serveConnections(t, (request, response) => {
    if (request.url === '/large') response.end(large)
    else request.resume().on('end', () => response.end())
  })
  const clients = [400, 1_500, 3_000, 6_000, 400, 1_500, 3_000, 6_000].map((length) => {
    const client = open()
    client.pause()
    client.write(get.replace('/', '/large'))
    return { client, padded: post.replace('Host: a', `Host: a\r\nX: ${'x'.repeat(length)}`) }
  })
  const [accepted, turn] = [() => [...connections.open], () => new Promise(setImmediate)]
  // Node pauses the parser of a connection while so much waits to be sent.
  while (accepted().length < clients.length || !accepted().every(({ socket }) => socket.writableLength > 0)) await turn()
  for (const { client, padded } of clients) client.write(padded + get + post + get)
  while (!accepted().every(({ queued }) => queued.length > 0)) await turn()
  connections.disableKeepAlive()
  const answers = await Promise.all([...clients.map(({ client }) => text(client)), connections.drain()])
  for (const answer of answers.slice(0, -1)) t.equal(count(String(answer)), 5)
})
