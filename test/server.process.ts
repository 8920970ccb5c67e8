import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { orderXml, xml } from './build.ts'
import { runServer, spawnServer } from './run-server.ts'

const post = (base: string, payload: string) =>
  fetch(`${base}/order`, { method: 'POST', headers: { ...xml, 'idempotency-key': 'a-guest-needs-a-long-key' }, body: payload })

t.test('a new database has the sample catalogue, and an order survives kill -9 straight after its 201', async (t) => {
  const settings = { DATABASE_URL: `sqlite:${join(t.testdir(), 'data', 'shop.db')}` }
  const first = await runServer(t, settings)
  const products = await (await fetch(`${first.base}/products`)).text()
  t.ok(products.includes('<product id="ABC-1"'))
  const placed = await post(first.base, orderXml())
  t.equal(await first.end('SIGKILL'), null)
  t.equal(placed.status, 201)
  const second = await runServer(t, settings)
  const read = await fetch(new URL(placed.headers.get('location') ?? '', second.base))
  t.same([read.status, await read.text()], [200, await placed.text()])
  const replayed = await post(second.base, orderXml())
  t.same([replayed.status, replayed.headers.get('idempotent-replayed')], [201, 'true'], 'a replay after the crash has the stored answer')
  t.equal(replayed.headers.get('location'), placed.headers.get('location'))
  t.equal(await second.end('SIGTERM'), 0)
})

t.test('told to stop, it is not ready at once, still answers for SHUTDOWN_DELAY, finishes what is in flight, and exits 0', async (t) => {
  const delay = 20
  const { base, process, end } = await runServer(t, {
    DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`,
    SHUTDOWN_DELAY: String(delay)
  })
  const { port } = new URL(base)
  const body = orderXml()
  const slow = connect(Number(port), '127.0.0.1')
  slow.write(
    `POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/xml\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
  )
  await once(slow, 'connect')
  while ((await fetch(`${base}/health/ready`)).status !== 200) await sleep(10)
  const told = performance.now()
  const ended = end('SIGTERM')
  while ((await fetch(`${base}/health/ready`)).status === 200) await sleep(10)
  t.equal((await fetch(`${base}/health/live`)).status, 200)
  t.equal((await fetch(`${base}/products`)).status, 200, 'the listener is still open')
  const isOpen = () =>
    fetch(`${base}/products`).then(
      () => true,
      () => false
    )
  while (await isOpen()) await sleep(50)
  // A timer may end a millisecond early.
  t.ok(performance.now() - told > delay * 1000 - 10, 'the listener was open for all of the delay')
  await t.rejects(fetch(`${base}/products`), 'the listener is closed')
  slow.write(body)
  t.match(await text(slow), /^HTTP\/1\.1 201 /, 'the order in flight was placed')
  t.equal(await ended, 0)
  t.equal(process.signalCode, null)
})

t.test(
  'told to stop while clients never pause, it ends each connection with a last answer, which may be an error, and exits 0',
  async (t) => {
    const { base, end } = await runServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`, SHUTDOWN_DELAY: '5' })
    const agent = new Agent({ keepAlive: true, maxSockets: 10 })
    const farewells = new Map<number, number>()
    let answered = 0
    async function client(path: string): Promise<void> {
      for (;;) {
        const request = get(`${base}${path}`, { agent })
        const [response] = (await once(request, 'response')) as [IncomingMessage]
        const status = response.statusCode ?? 0
        if (response.headers.connection === 'close') farewells.set(status, (farewells.get(status) ?? 0) + 1)
        await text(response)
        answered++
      }
    }
    const clients = Array.from({ length: 10 }, (_, i) => client(i % 2 === 0 ? '/products' : '/product/none').catch(() => 'refused'))
    while (answered < 100) await sleep(10)
    t.equal(farewells.size, 0)
    t.equal(await end('SIGTERM'), 0)
    t.same(new Set(await Promise.all(clients)), new Set(['refused']))
    t.ok(farewells.get(200))
    t.ok(farewells.get(404))
  }
)

t.test('wrong settings are all named, on standard error, with exit status 1', async (t) => {
  const child = spawnServer(t, { PORT: 'http', CURRENCY: 'euro', DATABASE_URL: 'mysql://x' })
  const [errors, [code]] = await Promise.all([text(child.stderr ?? Readable.from([])), once(child, 'exit')])
  t.equal(code, 1)
  for (const part of [
    'PORT must be a whole number from 0 to 65535',
    'CURRENCY must be an ISO 4217 code',
    'DATABASE_URL must be sqlite:PATH'
  ]) {
    t.match(errors, part)
  }
  t.notMatch(errors, /\n +at /, 'no stack trace')
})

t.test('a busy port ends the start with one line that says what to do, before anything is served or stored', async (t) => {
  const busy = createServer().listen(0, '127.0.0.1')
  t.teardown(() => busy.close())
  await once(busy, 'listening')
  const { port } = busy.address() as AddressInfo
  const folder = t.testdir()
  for (const setting of ['PORT', 'OPS_PORT']) {
    const child = spawnServer(t, { DATABASE_URL: `sqlite:${join(folder, 'shop.db')}`, [setting]: String(port) })
    const ended = once(child, 'exit')
    const [output, errors] = await Promise.all([child.stdout, child.stderr].map((stream) => text(stream ?? Readable.from([]))))
    t.match(errors, new RegExp(`^127\\.0\\.0\\.1:${port} is in use: .+, such as ${setting}=\\d+\\.\\n$`))
    t.equal(output, '', setting)
    t.equal((await ended)[0], 1)
  }
  t.same(readdirSync(folder), [])
})

t.test('the log says once where the service listens, then that it is ready, and ends with "the service has stopped"', async (t) => {
  const child = spawnServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`, SHUTDOWN_DELAY: '0' })
  const lines: { msg: string; address?: string }[] = []
  for await (const line of createInterface(child.stdout ?? Readable.from([]))) {
    const read: (typeof lines)[number] = JSON.parse(line)
    lines.push(read)
    if (read.address) child.kill('SIGTERM')
  }
  const address = lines.find(({ address }) => address)?.address
  t.same(
    lines.slice(-4).map(({ msg }) => msg),
    [`Tradepost listens on ${address}/`, 'Tradepost is ready', 'the service is stopping', 'the service has stopped']
  )
})

t.test('a service that may open few files says so, and how it may open more', async (t) => {
  const child = spawnServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` }, undefined, 1_024)
  const found: string[] = []
  for await (const line of createInterface(child.stdout ?? Readable.from([]))) {
    const { msg, address } = JSON.parse(line) as { msg: string; address?: string }
    if (msg.includes('MAX_CONNECTIONS')) found.push(msg)
    if (address) child.kill('SIGTERM')
  }
  t.match(found, [/because it may only open 1024 files: raise that before the start, with ulimit -n, or with ulimits in the compose file$/])
})

t.test('SAMPLE_CATALOGUE=off leaves a new database empty, and BASE_URL puts everything under its path', async (t) => {
  const { base, end } = await runServer(t, {
    DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`,
    SAMPLE_CATALOGUE: 'off',
    BASE_URL: '/shop',
    HOST: 'localhost'
  })
  t.match(base, /^http:\/\/127\.0\.0\.1:\d+\/shop$/, 'one listener, which has the limits')
  const response = await fetch(`${base}/products`)
  const body = await response.text()
  t.notMatch(body, '<product ')
  t.match(body, 'href="/shop/products"')
  t.equal((await fetch(new URL('/products', base))).status, 404)
  t.equal(await end('SIGINT'), 0)
})
