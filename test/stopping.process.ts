import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { orderXml, xml } from './build.ts'
import { message, Wire } from './http/wire.ts'
import { runServer, spawnServer } from './run-server.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly requests?: readonly { readonly method: string; readonly route: string; readonly state: string }[]
}

/** A service that needs all of its SHUTDOWN_TIMEOUT ends with 1, so an exit code of 0 shows that it needed less. */
async function run(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const database = `sqlite:${join(t.testdir(), 'shop.db')}`
  const server = await runServer(t, { DATABASE_URL: database, SHUTDOWN_DELAY: '1', ...settings })
  const output: Buffer[] = []
  server.process.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
  const log = () => {
    const lines = Buffer.concat(output).toString().split('\n')
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Line)
  }
  return { ...server, database, port: Number(new URL(server.base).port), log }
}

/** Resolves when nobody listens on the port any more. */
async function closed(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      // Errors of this connection do not matter: it only asks whether somebody listens.
      socket.on('error', () => {}).destroy()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const get = message('GET /product/ABC-1')
const body = orderXml({ 'ABC-1': 1 })
const head = `POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/xml\r\nContent-Length: ${body.length}\r\n\r\n`

t.test('connections without a request in flight do not keep the process', async (t) => {
  const { port, ops = '', end, log } = await run(t, { OPS_PORT: '0' })
  const opsPort = Number(new URL(ops).port)
  const silent = await Wire.open(t, port)
  const half = (await Wire.open(t, port)).send('GET /products HTTP/1.1\r\nHost: sh')
  const idle = (await Wire.open(t, port)).send(get)
  t.equal((await idle.answer()).status, 200)
  const idleHalf = (await Wire.open(t, port)).send(get)
  t.equal((await idleHalf.answer()).status, 200)
  idleHalf.send('GET /prod')
  const tunnel = (await Wire.open(t, port)).send('CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n')
  const upgrade = (await Wire.open(t, port)).send(message('GET /product/ABC-1', { connection: 'upgrade', upgrade: 'websocket' }))
  const silentAtOps = await Wire.open(t, opsPort)
  const halfAtOps = (await Wire.open(t, opsPort)).send('GET /hea')

  t.equal(await end('SIGTERM'), 0)
  for (const [wire, what] of [
    [silent, 'sent nothing'],
    [silentAtOps, 'sent nothing to the health port'],
    [idle, 'is idle']
  ] as const) {
    t.equal(await wire.rest(), '', what)
    t.equal(wire.failure, undefined, `${what}: not reset`)
  }
  for (const [wire, what] of [
    [half, 'half a head'],
    [idleHalf, 'half a head behind an answer']
  ] as const) {
    const answer = await wire.answer()
    t.match(answer, { status: 503, headers: { connection: 'close', 'retry-after': /\d/ }, body: /problems\/stopping/ }, what)
    t.equal(await wire.rest(), '')
  }
  t.match(await tunnel.rest(), /^HTTP\/1\.1 501 /)
  t.match(await upgrade.rest(), /^HTTP\/1\.1 200 /)
  t.match(await halfAtOps.rest(), /^HTTP\/1\.1 503 /)
  t.same(log().at(-1)?.msg, 'the service has stopped')
})

t.test('requests in flight are finished when the listener is closed, and so is the process then', async (t) => {
  const { port, end, log } = await run(t)
  const sending = (await Wire.open(t, port)).send(`${head}${body.slice(0, 10)}`)
  const pipelining = (await Wire.open(t, port)).send(`${head}${body.slice(0, 10)}`)
  // More than the system's buffers hold: most of it waits in the process for its reader.
  const reading = (await Wire.open(t, port)).pause().send(message('GET /openapi.json').repeat(40))
  const ended = end('SIGTERM')
  await closed(port)
  sending.send(body.slice(10))
  t.match(await sending.answer(), { status: 201, headers: { connection: 'close' } })
  t.equal(await sending.rest(), '')
  pipelining.send(`${body.slice(10)}${get}${get}`)
  t.same(
    [await pipelining.answer(), await pipelining.answer(), await pipelining.answer()].map(({ status }) => status),
    [201, 200, 200],
    'and what is sent behind it'
  )
  t.equal(await pipelining.rest(), '')
  reading.resume()
  for (let i = 0; i < 40; i++) t.ok(JSON.parse((await reading.answer()).body).paths, 'whole')
  t.equal(await reading.rest(), '')
  t.equal(await ended, 0)
  for (const wire of [sending, pipelining, reading]) t.equal(wire.failure, undefined)
  t.equal(log().at(-1)?.msg, 'the service has stopped')
})

t.test('requests that are not finished within SHUTDOWN_TIMEOUT are cut off and named, with exit status 1', async (t) => {
  const { base, port, end, log } = await run(t, { SHUTDOWN_DELAY: '0', SHUTDOWN_TIMEOUT: '1' })
  const wire = (await Wire.open(t, port)).send(get)
  t.equal((await wire.answer()).status, 200)
  wire.send(head)
  // Two requests are in flight: the one for the metrics, and the one whose body is incomplete.
  while (!/^http_requests_in_flight 2$/m.test(await (await fetch(`${base}/metrics`)).text()))
    await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(await end('SIGTERM'), 1)
  const last = log().at(-1)
  t.match(last, { level: 50, msg: /^the service was stopped early, because SHUTDOWN_TIMEOUT is over: requests were cut off: 1$/ })
  t.match(last?.requests, [{ reqId: /./, method: 'POST', route: '/order', state: 'its body was still arriving' }])
})

t.test('clients that connect anew all the time: what was read is answered whole, and what was acknowledged is stored', async (t) => {
  const { port, database, end, log } = await run(t)
  const place = message('POST /order', { ...xml, prefer: 'return=minimal' }, body)
  const acknowledged: string[] = []
  const count = { answered: 0, reset: 0 }
  let isRefused = false
  async function client(request: string): Promise<void> {
    while (!isRefused) {
      try {
        const wire = await Wire.open(t, port)
        wire.send(request)
        const answer = await wire.answer().catch(() => undefined)
        if (answer) count.answered++
        else count.reset++
        if (!answer) t.equal(await wire.rest(), '', 'no part of an answer')
        if (answer?.status === 201) acknowledged.push(answer.headers['location'] ?? '')
        wire.abort()
      } catch (error) {
        t.match(error, { code: /^(ECONNREFUSED|ECONNRESET)$/ })
        isRefused = true
      }
    }
  }
  const clients = Array.from({ length: 20 }, (_, i) => client(i % 2 === 0 ? get : place))
  while (acknowledged.length < 20) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(await end('SIGTERM'), 0)
  await Promise.all(clients)
  t.comment(`${count.answered} answered, ${count.reset} connected but not answered`)
  const lines = (name: string) => log().filter(({ msg }) => msg === name).length
  t.equal(lines('request completed'), count.answered)
  t.equal(lines('request cut off'), 0, 'every request that was read is answered whole')
  const again = await runServer(t, { DATABASE_URL: database })
  const statuses = await Promise.all(acknowledged.map(async (uri) => (await fetch(new URL(uri, again.base), { method: 'HEAD' })).status))
  t.same(new Set(statuses), new Set([200]))
  t.equal(await again.end('SIGTERM'), 0)
})

t.test('told twice to stop, as by a terminal and by npm, it still finishes what is in flight', async (t) => {
  const { port, process, end, log } = await run(t)
  const wire = (await Wire.open(t, port)).send(head)
  const ended = end('SIGINT')
  process.kill('SIGINT')
  process.kill('SIGTERM')
  await closed(port)
  process.kill('SIGTERM')
  t.equal((await wire.send(body).answer()).status, 201)
  t.equal(await ended, 0)
  t.equal(log().filter(({ msg }) => msg === 'the service is stopping').length, 1)
})

t.test('when its terminal is closed, it finishes what is in flight, too', async (t) => {
  const { port, end, log } = await run(t)
  const wire = (await Wire.open(t, port)).send(head)
  const ended = end('SIGHUP')
  await closed(port)
  t.equal((await wire.send(body).answer()).status, 201)
  t.equal(await ended, 0)
  t.match(log().at(-1), { msg: 'the service has stopped' })
})

t.test('a second Ctrl-C ends it where it stands, with exit status 1', async (t) => {
  const { port, process, end, log } = await run(t)
  const wire = (await Wire.open(t, port)).send(head)
  const ended = end('SIGINT')
  await closed(port)
  // One that comes within a second of the first counts as the same keystroke, so it is sent again.
  const again = setInterval(() => process.kill('SIGINT'), 100)
  t.equal(await ended, 1)
  clearInterval(again)
  t.equal(await wire.rest(), '')
  t.match(log().at(-1), {
    msg: /^the service was stopped early, because it was interrupted again/,
    requests: [{ method: 'POST', route: '/order' }]
  })
})

t.test('told to stop before it listens, it ends at once with 0', async (t) => {
  // A database that is asked and never answers.
  const database = createServer().listen(0, '127.0.0.1')
  t.teardown(() => database.close())
  await once(database, 'listening')
  const { port } = database.address() as AddressInfo
  const child = spawnServer(t, { DATABASE_URL: `postgres://shop@127.0.0.1:${port}/shop` })
  const ended = once(child, 'exit')
  const [socket] = (await once(database, 'connection')) as [Socket]
  t.teardown(() => socket.destroy())
  child.kill('SIGTERM')
  t.same(await ended, [0, null])
})

t.test('after Ctrl-C during the start the log has neither a warning nor that the service is ready', async (t) => {
  const server = spawnServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`, SHUTDOWN_DELAY: '0' })
  const { pid, stdout } = server
  if (pid === undefined || !stdout) throw new Error('the service was not started')
  const ended = once(server, 'exit')
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const lines: Line[] = []
  for await (const text of createInterface(stdout)) {
    const line = JSON.parse(text) as Line
    lines.push(line)
    if (!line.msg.startsWith('Tradepost listens')) continue
    // A terminal sends it to all processes. The document process starts now.
    while (children().length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    for (const process of [...children(), pid]) globalThis.process.kill(process, 'SIGINT')
  }
  t.same((await ended)[0], 0)
  t.same(
    lines.filter(({ level }) => level > 30),
    [],
    'no warning'
  )
  const messages = lines.map(({ msg }) => msg)
  t.same(messages.slice(messages.indexOf('the service is stopping')), ['the service is stopping', 'the service has stopped'])
})
