import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { NotSentError, Sender, timeouts } from '../../webhooks/sender.ts'
import { type Resolve, Targets } from '../../webhooks/targets.ts'
import { stopClock } from '../stopped-clock.ts'
import { until } from '../until.ts'
import { startReceiver } from './receiver.ts'

const never = new AbortController().signal
const signing = { id: 'event-1', timestamp: 0, secrets: [] }

function makeSender(t: Test, targets = new Targets(['127.0.0.1'])): Sender {
  const sender = new Sender(targets, 8)
  t.teardown(() => sender.close())
  return sender
}

const post = (sender: Sender, url: string, stop = never, body = '{"a":1}') =>
  sender.post({ url, customer: 'ERP', headers: { 'content-type': 'application/json' }, body: Buffer.from(body), signing }, stop)

/** A receiver that writes bytes of its own. @returns its URL */
async function startBare(t: Test, answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => answer(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a delivery is one POST, and its status is the outcome', async (t) => {
  const sender = makeSender(t)
  const receiver = await startReceiver(t, (response, _, count) =>
    count === 1 ? response.writeHead(204).end() : response.writeHead(503, { 'retry-after': '30' }).end('busy')
  )
  t.match(await post(sender, `${receiver.url}/hooks?a=b`), { status: 204, durationMs: Number, at: Number })
  t.match(receiver.received[0], {
    path: '/hooks?a=b',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json', 'content-length': '7' }
  })
  t.match(await post(sender, receiver.url), { status: 503, retryAfter: 30_000 })
})

t.test('a redirect is not followed', async (t) => {
  const elsewhere = await startReceiver(t)
  const receiver = await startReceiver(t, (response) => response.writeHead(307, { location: elsewhere.url }).end())
  t.match(await post(makeSender(t), receiver.url), { status: 307 })
  t.equal(elsewhere.received.length, 0)
})

t.test('of a huge answer only the beginning is read, and its status counts', async (t) => {
  let sent = 0
  const receiver = await startReceiver(t, (response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(65_536)
    const more = () => {
      for (let isReady = true; isReady && !response.destroyed; sent += chunk.length) isReady = response.write(chunk)
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  t.match(await post(makeSender(t), receiver.url), { status: 200 })
  t.ok(sent < 32 * 1024 * 1024, `${sent} bytes`)
})

t.test('a receiver that sends interim answers without end is given up', async (t) => {
  const url = await startBare(t, (socket) => {
    const interim = Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000))
    const more = () => {
      while (!socket.destroyed && socket.write(interim));
      if (!socket.destroyed) socket.once('drain', more)
    }
    socket.once('data', more)
  })
  t.match(await post(makeSender(t), url), { failure: 'The receiver sent more than 8 interim (1xx) answers.' })
})

t.test('a receiver that changes the protocol is a failure at once, and its connection is closed', async (t) => {
  const sender = makeSender(t)
  for (const rest of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']) {
    let closed: Promise<unknown> | undefined
    const url = await startBare(t, (socket) => {
      closed = once(socket, 'close')
      socket.once('data', () => socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n${rest}`))
    })
    t.match(await post(sender, url), { failure: 'The receiver asked for another protocol (101).' })
    await closed
  }
})

t.test(
  'a host that the shop cannot look up, because it has no name server or no descriptor for a query, is no failure of the receiver',
  async (t) => {
    const resolve: Resolve = () =>
      Promise.reject(Object.assign(new Error('queryA ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'queryA' }))
    await t.rejects(post(makeSender(t, new Targets([], resolve)), 'https://erp.example'), NotSentError)
  }
)

t.test('an answer whose body drips is not waited for longer than a second', async (t) => {
  t.equal(timeouts.rest, 1_000)
  stopClock(t).followTimers()
  const receiver = await startReceiver(t, (response) => {
    response.writeHead(200).write('.')
    const timer = setInterval(() => response.write('.'), 100)
    response.once('close', () => clearInterval(timer))
  })
  const outcome = await post(makeSender(t), receiver.url)
  t.match(outcome, { status: 200 })
  t.ok(outcome.durationMs < 5_000)
})

t.test('a receiver that never answers, or whose header drips, fails after ten seconds', async (t) => {
  const sender = makeSender(t)
  const hanging = await startReceiver(t, () => {})
  const dripping = await startBare(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x-a: b\r\n'), 300)
    socket.once('close', () => clearInterval(timer))
  })
  const outcomes = await Promise.all([post(sender, hanging.url), post(sender, dripping)])
  for (const outcome of outcomes) {
    t.match(outcome, { failure: /within 10 seconds/ })
    t.notOk('status' in outcome)
    t.ok(outcome.durationMs >= 9_900)
  }
})

t.test('a receiver that closes, refuses or does not speak HTTP is a failure in plain words', async (t) => {
  const sender = makeSender(t)
  const closing = await startReceiver(t, (response) => response.destroy())
  t.match(await post(sender, closing.url), { failure: /closed the connection/ })
  const strange = createServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end('220 mail.example ESMTP\r\n')
  )
  strange.listen(0, '127.0.0.1')
  await once(strange, 'listening')
  const { port } = strange.address() as AddressInfo
  t.match(await post(sender, `http://127.0.0.1:${port}`), { failure: /not HTTP|closed/ })
  await new Promise((resolve) => strange.close(resolve))
  t.match(await post(sender, `http://127.0.0.1:${port}`), { failure: /refused the connection/ })
  t.match(await post(sender, `https://127.0.0.1:${new URL(closing.url).port}`), { failure: /TLS|closed the connection/ })
})

t.test('an address that may not be called is not connected to, in the URL or behind a name', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  t.match(await post(makeSender(t, new Targets([])), `https://127.0.0.1:${port}`), { failure: /not public/ })
  const local: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  t.match(await post(makeSender(t, new Targets([], local)), `https://erp.example:${port}`), { failure: /not public/ })
  t.equal(receiver.received.length, 0)
})

t.test('the address that was checked is the one that is connected to', async (t) => {
  const receiver = await startReceiver(t)
  let lookups = 0
  const rebinding: Resolve = async () => {
    lookups++
    return [{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
  }
  const sender = makeSender(t, new Targets(['erp.example'], rebinding))
  t.match(await post(sender, `http://erp.example:${new URL(receiver.url).port}`), { status: 204 })
  t.equal(lookups, 1)
})

t.test('a large body arrives whole', async (t) => {
  const body = 'Bolt, '.repeat(200_000)
  const receiver = await startReceiver(t)
  t.match(await post(makeSender(t), receiver.url, never, body), { status: 204 })
  t.ok(receiver.received[0]?.body === body)
})

t.test('a receiver that answers before it reads a large body gets no more of it', async (t) => {
  let closed = false
  const url = await startBare(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    socket.on('close', () => (closed = true))
  })
  t.match(await post(makeSender(t), url, never, 'a'.repeat(20_000_000)), { status: 204 })
  await until(() => closed, 'the connection is closed')
})

t.test('an attempt ends at once when the service stops', async (t) => {
  const hanging = await startReceiver(t, () => {})
  const stop = new AbortController()
  const outcome = post(makeSender(t), hanging.url, stop.signal)
  await hanging.count(1)
  stop.abort()
  t.match(await outcome, { failure: /stopped/ })
})

t.test('an attempt connects to four addresses of a host at most', async (t) => {
  const receiver = await startReceiver(t)
  const port = new URL(receiver.url).port
  for (const [before, outcome] of [
    [3, { status: 204 }],
    [4, { status: undefined, failure: String }]
  ] as const) {
    // Nobody listens at the others.
    const addresses = [...Array.from({ length: before }, (_, i) => `127.0.0.${i + 2}`), '127.0.0.1']
    const resolve: Resolve = async () => addresses.map((address) => ({ address, family: 4 }))
    t.match(await post(makeSender(t, new Targets(['erp.internal'], resolve)), `http://erp.internal:${port}/`), outcome)
  }
  t.equal(receiver.received.length, 1)
})
