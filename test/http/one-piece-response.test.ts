import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { OnePieceResponse } from '../../http/one-piece-response.ts'

interface Received {
  readonly status: number | undefined
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

/** Serves two requests over one connection, so that a response that is too long or too short spoils the second. */
async function received(t: Test, listener: RequestListener<never, never>, method = 'GET'): Promise<Received> {
  const server = createServer({ ServerResponse: OnePieceResponse }, listener as RequestListener).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = async (): Promise<Received> => {
    const sent = request({ port, method, headers: { connection: 'keep-alive' } }).end()
    const [response] = await once(sent, 'response')
    const chunks: Buffer[] = await response.toArray()
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString('utf8') }
  }
  const first = await ask()
  const second = await ask()
  t.same({ ...second, headers: { ...second.headers, date: '' } }, { ...first, headers: { ...first.headers, date: '' } })
  return first
}

const text = 'Schrauben für 5 €'
const length = { 'content-length': String(Buffer.byteLength(text)) }

t.test('a whole body arrives as it was sent: text in UTF-8 or in another encoding, and bytes', async (t) => {
  const utf8 = await received(t, (_request, response: OnePieceResponse) => response.writeHead(200, length).end(text))
  t.match(utf8, { status: 200, headers: length, body: text })
  const latin1 = Buffer.from(text).toString('latin1')
  t.equal((await received(t, (_request, response: OnePieceResponse) => response.writeHead(200, length).end(latin1, 'latin1'))).body, text)
  t.equal((await received(t, (_request, response: OnePieceResponse) => response.writeHead(200, length).end(Buffer.from(text)))).body, text)
})

t.test('a body without Content-Length, or the last of several chunks, arrives whole', async (t) => {
  t.match(await received(t, (_request, response: OnePieceResponse) => response.end(text)), { headers: length, body: text })
  const chunked = (_request: unknown, response: OnePieceResponse) => {
    response.writeHead(200)
    response.write('5 ')
    response.end('€')
  }
  t.match(await received(t, chunked), { headers: { 'transfer-encoding': 'chunked' }, body: '5 €' })
})

t.test('a response without content has none: to HEAD, and 304', async (t) => {
  t.match(await received(t, (_request, response: OnePieceResponse) => response.writeHead(200, length).end(text), 'HEAD'), { body: '' })
  t.match(await received(t, (_request, response: OnePieceResponse) => response.writeHead(304, length).end()), { status: 304, body: '' })
})

t.test('the end is told once, and a second end is an error as with Node', async (t) => {
  const events: string[] = []
  const listener = (_request: unknown, response: OnePieceResponse) => {
    response.on('finish', () => events.push('finish'))
    response.on('close', () => events.push('close'))
    response.on('error', ({ code }: NodeJS.ErrnoException) => events.push(String(code)))
    response.writeHead(200, length).end(text, 'utf8', () => events.push('done'))
    response.end('more')
  }
  await received(t, listener)
  t.same(events.filter((event) => event === 'finish').length, 2)
  t.same(events.filter((event) => event === 'done').length, 2)
  t.ok(events.includes('ERR_STREAM_WRITE_AFTER_END'))
})

t.test('a response whose client has gone is not finished', async (t) => {
  for (const body of [text, Buffer.from(text)]) {
    const events: string[] = []
    const closed = new Promise<void>((resolve) => {
      const server = createServer({ ServerResponse: OnePieceResponse }, (_request, response) => {
        response.on('finish', () => events.push('finish'))
        response.on('close', resolve)
        response.writeHead(200, length)
        response.socket?.destroy()
        response.end(body)
      }).listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        request({ port })
          .on('error', () => undefined)
          .end()
      })
      t.teardown(() => server.close())
    })
    await closed
    t.same(events, [])
  }
})
