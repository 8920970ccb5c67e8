import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Connections } from '../../http/connections.ts'
import { blockThread } from '../block-thread.ts'
import { serveConnections, until } from './served.ts'

const turn = () => new Promise(setImmediate)

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const last = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const chunked = 'POST /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

/** A server whose answer names the request and the length of its body. A request for `/busy` takes more time than a turn has. */
async function serve(t: Test) {
  const seen: string[] = []
  const { server, connections, open } = await serveConnections(t, async (request, response) => {
    seen.push(`${request.url}`)
    if (request.url === '/busy') blockThread(5)
    if (request.url === '/unread') return
    const body = await text(request).catch(() => 'the client has gone')
    response.end(`${request.method} ${request.url} ${body.length};`)
  })
  const accepted = new Set<string>()
  server.on('connection', ({ remoteAddress, remotePort }: Socket) => accepted.add(`${remoteAddress} ${remotePort}`))
  const connected = async (localAddress: string): Promise<Socket> => {
    const socket = open(localAddress)
    await once(socket, 'connect')
    const address = `${socket.localAddress} ${socket.localPort}`
    await until(() => accepted.delete(address), 'its turn for a socket comes')
    return socket
  }
  return { server, connections, open: connected, seen }
}

/** Adds another client, whose requests take all of the time of each turn. */
async function keepBusy({ open, seen }: Awaited<ReturnType<typeof serve>>): Promise<void> {
  const socket = await open('127.0.0.9')
  const requests = get('/busy').repeat(50)
  let answers = 0
  socket.on('data', (data: Buffer) => {
    answers += data.toString('latin1').split('/busy').length - 1
    // The next requests arrive while some are still waiting.
    if (answers % 50 > 25) {
      answers -= 50
      socket.write(requests)
    }
  })
  socket.write(requests)
  await until(() => seen.length > 1, 'it is busy')
}

const client = '127.0.0.3'

/** The connections of clients, whose bytes wait. */
const waiting = ({ connections }: { connections: Connections }) =>
  [...connections.open].filter(({ isWaiting, network }) => isWaiting && network === client)

/** Makes all that the client sends wait for its turn, until the function that it returns is called. */
function holdTurns({ turns }: Connections): () => void {
  const { takeTurn } = turns
  const held: (() => void)[] = []
  turns.takeTurn = (network, isShort, later) => {
    if (network !== client) return takeTurn.call(turns, network, isShort, later)
    held.push(later)
    return false
  }
  return () => {
    turns.takeTurn = takeTurn
    for (const later of held) later()
  }
}

/** A request whose body takes long to parse. */
const small = 'x'.repeat(64)
const slow = `${chunked}${`40\r\n${small}\r\n`.repeat(450)}0\r\n\r\n`

t.test('when many connections that were idle send at once, a customer waits for a few of them and not for all', async (t) => {
  const { open, seen } = await serve(t)
  const attackers = await Promise.all(Array.from({ length: 200 }, () => open('127.0.0.1')))
  const customer = await open('127.0.0.2')
  for (const socket of [...attackers, customer]) {
    socket.write(get('/first'))
    await once(socket, 'data')
  }
  seen.length = 0
  for (const socket of attackers) socket.write(slow)
  customer.write(get('/customer'))
  await once(customer, 'data')
  t.ok(seen.indexOf('/customer') < 100, `${seen.indexOf('/customer')} requests were parsed before`)
  await until(() => seen.length === 201, 'all are handled in the end')
})

t.test('hundreds of connections of one address, with a full read each, are all answered', async (t) => {
  const { open, seen } = await serve(t)
  const clients = await Promise.all(Array.from({ length: 600 }, () => open(client)))
  for (const socket of clients) {
    socket.write(get('/first'))
    await once(socket, 'data')
  }
  seen.length = 0
  const size = 100_000
  const sized = `POST /sized HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`
  const answers = await Promise.all(
    clients.map((socket) => {
      socket.write(sized)
      return text(socket)
    })
  )
  t.equal(answers.filter((answer) => answer.includes(`POST /sized ${size};`)).length, clients.length)
})

t.test('a body in too many chunks is refused, also if async hooks are used', async (t) => {
  const hook = createHook({ before() {}, after() {} }).enable()
  t.teardown(() => hook.disable())
  const { server, open } = await serve(t)
  const errors: unknown[] = []
  server.on('clientError', (error: Error & { code: string }, socket) => {
    errors.push(error.code)
    socket.destroy()
  })
  for (let i = 1; i < 4; i++) {
    const socket = await open(client)
    socket.write(`${chunked}${'1\r\nx\r\n'.repeat(5_000)}`)
    await until(() => errors.length === i, 'the body is refused')
  }
  t.strictSame(errors, Array(3).fill('HPE_TOO_MANY_CHUNKS'))
})

const body = fc.constantFrom(0, 1, 500, 70_000, 200_000)
const request = fc.oneof(
  fc.constant({ bytes: get('/plain'), answer: 'GET /plain 0;' }),
  body.map((size) => ({
    bytes: `POST /sized HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`,
    answer: `POST /sized ${size};`
  })),
  fc
    .nat(150)
    .map((count) => ({ bytes: `${chunked}${`40\r\n${small}\r\n`.repeat(count)}0\r\n\r\n`, answer: `POST /chunked ${count * 64};` }))
)

t.test('what waits for its turn is parsed as it was sent, however its bytes come', async (t) => {
  const server = await serve(t)
  await keepBusy(server)
  const holding = fc.record({ requests: fc.array(request, { minLength: 1, maxLength: 5 }), cuts: fc.array(fc.nat(), { maxLength: 4 }) })
  let waited = 0
  const { turns } = server.connections
  const takeTurn = turns.takeTurn.bind(turns)
  turns.takeTurn = (...given) => {
    const isTaken = takeTurn(...given)
    if (!isTaken) queueMicrotask(() => (waited += waiting(server).length))
    return isTaken
  }
  await fc.assert(
    fc.asyncProperty(holding, async ({ requests, cuts }) => {
      const socket = await server.open(client)
      const answers = text(socket)
      const all = requests.map(({ bytes }) => bytes).join('') + last
      const ends = [...new Set(cuts.map((cut) => cut % all.length))].sort((a, b) => a - b)
      let sent = 0
      for (const end of [...ends, all.length]) {
        socket.write(all.slice(sent, end), 'latin1')
        sent = end
        await turn()
      }
      socket.end()
      const bodies = (await answers).match(/[A-Z]+ \/[a-z]+ \d+;/g) ?? []
      const expected = [...requests.map(({ answer }) => answer), 'GET /last 0;']
      if (bodies.join() !== expected.join()) throw new Error(`answers ${bodies.join()} to ${expected.join()}`)
    }),
    { numRuns: 40 }
  )
  t.ok(waited > 0, `${waited} times a connection was seen waiting`)
})

t.test('a service that stops parses what waits for its turn, and answers it', async (t) => {
  const server = await serve(t)
  const { connections } = server
  const sockets = [await server.open(client), await server.open(client)]
  const letGo = holdTurns(connections)
  for (const socket of sockets) socket.write(get('/waiting'))
  const answers = sockets.map((socket) => text(socket))
  await until(() => waiting(server).length === sockets.length, 'they wait')
  const waited = waiting(server)
  connections.disableKeepAlive()
  t.same(
    waited.map(({ lastRequest }) => lastRequest?.url),
    ['/waiting', '/waiting']
  )
  letGo()
  await connections.drain()
  for (const answer of await Promise.all(answers)) t.match(answer, /GET \/waiting 0;/)
})

t.test('a connection that was cut while its bytes waited reads nothing more', async (t) => {
  const server = await serve(t)
  const socket = await server.open(client)
  const letGo = holdTurns(server.connections)
  socket.write(get('/waiting').repeat(150))
  await until(() => waiting(server).length > 0, 'it waits')
  const [connection] = waiting(server)
  server.connections.disableKeepAlive()
  t.match(connection, { isCut: true, isHeld: true })
  socket.resume().write(get('/after'))
  letGo()
  await server.connections.drain()
  t.notOk(server.seen.includes('/after'))
})

t.test('a body that nobody reads stops its connection, also when its bytes wait for their turn', async (t) => {
  const server = await serve(t)
  await keepBusy(server)
  const socket = await server.open(client)
  const size = 20_000_000
  socket.write(`POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  socket.write(Buffer.alloc(size))
  await until(() => server.seen.includes('/unread'), 'the request is handled')
  const [connection] = [...server.connections.open].filter(({ network }) => network === client)
  for (let turns = 0; turns < 60; turns++) await turn()
  const { bytesRead = 0 } = connection?.socket ?? {}
  t.ok(bytesRead > 0 && bytesRead < 1_000_000, `${bytesRead} bytes were read`)
})

t.test('clients that go away while their bytes wait do not disturb the next one', async (t) => {
  const server = await serve(t)
  await keepBusy(server)
  const sockets = await Promise.all(Array.from({ length: 20 }, () => server.open(client)))
  for (const socket of sockets) socket.write(slow.repeat(20))
  await until(() => waiting(server).length > 0, 'some wait')
  const before = server.seen.filter((path) => path === '/chunked').length
  for (const socket of sockets) socket.resetAndDestroy()
  await until(() => server.connections.open.size === 1, 'their connections are closed')
  t.equal(server.seen.filter((path) => path === '/chunked').length, before, 'what they sent is not parsed any more')
  const after = await server.open(client)
  after.write(last)
  t.match(await text(after), /GET \/last 0;/)
})
