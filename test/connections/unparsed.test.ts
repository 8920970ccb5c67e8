import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { hold, release } from '../../http/connection.ts'
import { serveConnections } from './served.ts'

const get = 'GET /hot HTTP/1.1\r\nHost: a\r\n\r\n'
const last = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** A server whose layer before the parser answers `get`. Each answer names the request and the length of its body. */
async function serve(t: Test) {
  const { server, connections, open } = await serveConnections(t, async (request: IncomingMessage, response: ServerResponse) => {
    // The body of this one may arrive after its answer.
    const body = request.url === '/early' ? '' : await text(request)
    response.end(`${request.method} ${request.url} ${body.length};`)
  })
  let socket: Socket | undefined
  server.on('connection', (accepted: Socket) => (socket = accepted))
  /** Where the bytes begin that the layer gets: their distance from the first byte of the connection. */
  const offered: number[] = []
  let [answered, left] = [0, 0]
  connections.beforeParsing((socket, bytes, done) => {
    offered.push(socket.bytesRead - bytes.length)
    if (bytes.toString('latin1') !== get) return false
    // Some wait for their turn, and some are left to the parser then.
    const [mustWait, isLeft] = [offered.length % 2 === 1, offered.length % 3 === 2]
    const answer = () => {
      if (isLeft) left++
      else {
        answered++
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nGET /hot 0;')
      }
      done(!isLeft)
    }
    if (mustWait) setImmediate(() => setImmediate(answer))
    else answer()
    return true
  })
  const client = open()
  await once(client, 'connect')
  return { connections, open, client, offered, counts: () => ({ answered, left }), accepted: () => socket }
}

const turn = () => new Promise(setImmediate)

/** The bodies of the answers, which name the requests. */
const bodiesOf = (answers: string) => answers.match(/(?<=\r\n\r\n)[^;]*;|(?<=\r\n)[A-Z]+ \/[^;\r]*;/g) ?? []

/** What a body may have in it to look like the end of a request, or like a whole one. */
const content = fc.constantFrom('', 'x', '\r\n\r\n', get, `x${get}`, `\r\n${get}${get}`, 'x'.repeat(70_000))
const chunks = (body: string) => (body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`)

const request = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ bytes: get, answer: 'GET /hot 0;' }) },
  fc.constant({ bytes: `GET /cold HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20)}\r\n\r\n`, answer: 'GET /cold 0;' }),
  content.map((body) => ({
    bytes: `POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    answer: 'POST /early 0;'
  })),
  content.map((body) => ({
    bytes: `POST /sized HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    answer: `POST /sized ${body.length};`
  })),
  fc.tuple(content, fc.constantFrom('', 'Trailer-Field: x\r\n')).map(([body, trailer]) => ({
    bytes: `PUT /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(body)}0\r\n${trailer}\r\n`,
    answer: `PUT /chunked ${body.length};`
  }))
)

t.test('the layer before the parser only gets bytes that begin a request, however the bytes of a connection come', async (t) => {
  const hot = { answered: 0, left: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat(1_000), { maxLength: 30 }),
      fc.boolean(),
      async (requests, cuts, arePiecesAwaited) => {
        const { client, offered, counts, accepted } = await serve(t)
        const answers = text(client)
        const all = requests.map(({ bytes }) => bytes).join('') + last
        const starts = [0]
        for (const { bytes } of requests) starts.push((starts.at(-1) ?? 0) + bytes.length)
        // Most pieces end near the begin of a request: some bytes before it, at it, or after it.
        const ends = [
          ...cuts.map((cut) => (starts[cut % starts.length] ?? 0) + (cut % 7) - 3),
          ...starts.filter((start) => start % 2 === 0)
        ]
        const places = [...new Set(ends)].filter((at) => at > 0 && at < all.length).sort((a, b) => a - b)
        let sent = 0
        for (const end of [...places, all.length]) {
          client.write(all.slice(sent, end), 'latin1')
          sent = end
          while (arePiecesAwaited && (accepted()?.bytesRead ?? 0) < sent && end !== all.length) await turn()
        }
        const bodies = bodiesOf(await answers)
        const expected = [...requests.map(({ answer }) => answer), 'GET /last 0;']
        if (bodies.join() !== expected.join()) throw new Error(`answers ${bodies.join()} to ${expected.join()}`)
        const wrong = offered.filter((start) => !starts.includes(start))
        if (wrong.length > 0) throw new Error(`the layer got bytes at ${wrong.join()}, and requests begin at ${starts.join()}`)
        const { answered, left } = counts()
        hot.answered += answered
        hot.left += left
      }
    ),
    { numRuns: 200 }
  )
  t.ok(hot.answered > 0 && hot.left > 0, `the layer has answered ${hot.answered} requests, and left ${hot.left}`)
})

t.test('the first request of a connection is parsed, and so is what comes before its answer', async (t) => {
  const { client, offered, counts, connections } = await serve(t)
  const answers = text(client)
  client.write(get + get)
  while ([...connections.open].some(({ reader }) => !reader.isAfterEmptyLine)) await turn()
  t.same(offered, [])
  client.end(last)
  t.equal(bodiesOf(await answers).length, 3)
  t.equal(counts().answered, 0)
})

t.test('a service that stops gives the layer nothing more, so the next answer closes the connection', async (t) => {
  const { client, offered, connections } = await serve(t)
  client.write(get)
  t.match(String(await once(client, 'data')), /GET \/hot 0;/)
  connections.disableKeepAlive()
  const answers = text(client)
  client.write(get)
  t.match(await answers, /connection: close[\s\S]+GET \/hot 0;/i)
  t.same(offered, [])
})

for (const [name, isWithin] of [
  ['between requests', false],
  ['while a request is handled', true]
] as const) {
  t.test(`a connection that is held ${name} reads nothing until it is released`, async (t) => {
    const { client, open, connections } = await serve(t)
    client.write(get)
    await once(client, 'data')
    const [connection] = connections.open
    if (!connection) throw new Error('there is no connection')
    if (isWithin) {
      connections.beforeParsing(() => {
        hold(connection)
        return false
      })
      client.write(get)
      await once(client, 'data')
    } else hold(connection)
    const { bytesRead } = connection.socket
    client.write(last)
    // Other connections that the server answers show that it has looked for bytes since.
    for (let i = 0; i < 3; i++) {
      const other = open()
      other.write(last)
      await once(other, 'data')
      other.destroy()
    }
    t.equal(connection.socket.bytesRead, bytesRead)
    const answers = text(client)
    release(connection)
    t.match(await answers, /GET \/last 0;/)
  })
}

t.test('requests that were sent ahead are answered although the client has ended its side', async (t) => {
  const { client } = await serve(t)
  const answers = text(client)
  client.end(get + get.replace('/hot', '/b') + get.replace('/hot', '/c'))
  t.same(bodiesOf(await answers), ['GET /hot 0;', 'GET /b 0;', 'GET /c 0;'])
})
