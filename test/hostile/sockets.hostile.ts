import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { message } from '../http/wire.ts'
import { until } from '../until.ts'
import { importLarge, placeLarge } from './catalogue.ts'
import { type HostileShop, short, startHostile } from './shop.ts'

const order = '<purchase-order><item><product-id>LARGE-0</product-id><quantity>1</quantity></item></purchase-order>'
const post = `POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/xml\r\nContent-Length: ${order.length}\r\n\r\n`
const look = message('GET /product/ABC-1')

/** The bytes that are sent before a connection is reset. */
const beginnings: readonly string[] = [
  '',
  'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  `CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${look}`,
  message('GET /products', { connection: 'upgrade', upgrade: 'websocket' }),
  message('GET /products', { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }),
  message('POST /order', { connection: 'upgrade', upgrade: 'x', 'content-type': 'application/xml', 'content-length': '100' }),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'garbage\r\n\r\n',
  'GET /prod',
  'GET /products HTTP/1.1\r\nHost: a\r\nAccept: appli',
  look,
  message('GET /catalogue'),
  message('GET /products?q=steel'),
  post,
  post + order.slice(0, 20),
  post + order,
  look + post + order.slice(0, 20),
  look.repeat(3),
  (post + order).repeat(20),
  message('POST /order', { expect: '100-continue', 'content-type': 'application/xml', 'content-length': '9' }),
  `${message('POST /order', { 'content-type': 'application/xml', 'transfer-encoding': 'chunked' })}5\r\n<purc`,
  `${message('POST /order', { 'content-type': 'application/xml', 'transfer-encoding': 'chunked' })}zz\r\n`
]

/** The moments at which a connection is reset. */
const moments: Readonly<Record<string, (socket: Socket, shop: HostileShop) => Promise<unknown>>> = {
  'at once': async () => undefined,
  'a turn later': () => turnOfTheLoop(),
  'when the shop has answered another request': (_socket, shop) => shop.send({ path: '/health/live' }),
  'when bytes of an answer have come, or it is closed': (socket, shop) =>
    // Some of the requests are never complete and never answered, so another event ends the wait.
    Promise.race([once(socket.resume(), 'data'), once(socket, 'close'), shop.send({ path: '/products' })]).catch(() => undefined)
}

const resets = 5_000
const together = 100

t.test('thousands of resets at any moment are no error of the service, and leave nothing behind', async (t) => {
  const shop = await startHostile(t, { RATE_LIMIT: 'off' })
  const when = Object.values(moments)
  async function reset(i: number): Promise<void> {
    const socket = await shop.open()
    socket.write(beginnings[i % beginnings.length] ?? '', 'latin1')
    await when[i % when.length]?.(socket, shop)
    socket.resetAndDestroy()
  }
  await shop.survives(t, async () => {
    for (let done = 0; done < resets; done += together) {
      await Promise.all(Array.from({ length: together }, (_, i) => reset(done + i)))
    }
  })
  await shop.recovers(t)
})

t.test('thousands of clients that connect, send and leave at once hold up nobody, and leave nothing behind', async (t) => {
  const shop = await startHostile(t)
  // The last ones wait for a delayed refusal when their client leaves, and something malformed follows them.
  const sendings = ['', 'G', look.slice(0, 20), look, `${look}\0\0\0`]
  async function leave(i: number): Promise<void> {
    const socket = await shop.open()
    socket.end(sendings[i % sendings.length] ?? '', 'latin1')
    await turnOfTheLoop()
    socket.destroy()
  }
  await shop.survives(t, async () => {
    for (let done = 0; done < resets; done += together) {
      await Promise.all(Array.from({ length: together }, (_, i) => leave(done + i)))
    }
  })
  await shop.recovers(t)
})

/** Everything that was received on a connection of an attacker who reads all of it. */
function hear(socket: Socket): { statuses(): number[] } {
  const found: number[] = []
  let line = ''
  socket.on('data', (chunk: Buffer) => {
    const lines = (line + chunk.toString('latin1')).split('\n')
    line = lines.pop() ?? ''
    for (const whole of lines) {
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(whole) ?? []
      if (status !== undefined) found.push(Number(status))
    }
  })
  socket.resume()
  return { statuses: () => found }
}

/** Milliseconds between two bytes of a slow sender, which would need four times as long for a request as the shop lets it. */
const slowly = 500

/** Sends a byte now and then until so many answers have come. @returns what was not sent */
async function drip(socket: Socket, text: string, answers = 1): Promise<string> {
  const { statuses } = hear(socket)
  let sent = 0
  let last = 0
  await until(() => {
    if (performance.now() - last > slowly && sent < text.length && socket.writable) {
      socket.write(text[sent++] ?? '')
      last = performance.now()
    }
    return statuses().length >= answers || socket.destroyed
  }, 'who sends slowly is answered')
  return text.slice(sent)
}

t.test('connections that take for ever', async (t) => {
  let large = ''
  const shop = await startHostile(t, short, {
    async prepare(patient) {
      await importLarge(t, patient)
      large = await placeLarge(t, patient)
    }
  })
  const key = (await shop.command(['keys', 'create', '--name', 'ERP', '--scopes', 'fulfilment'])).stdout.trim()
  const orders = async () => (await shop.send({ path: '/orders', headers: { authorization: `Bearer ${key}` } }, '127.0.9.9')).body
  const largeOnes = [
    message(`GET ${large}`),
    message(`GET ${large}`, { accept: 'application/json' }),
    message(`GET ${large}`, { accept: 'text/html' }),
    message(`GET ${large}?form=change`, { accept: 'text/html' }),
    message('GET /catalogue'),
    message('GET /catalogue', { accept: 'text/csv' })
  ]

  async function neverRead(from: string, text: string): Promise<void> {
    const socket = await shop.open(from)
    socket.write(text, 'latin1')
  }

  await t.test('those who ask for large answers and never read them are cut off, and memory is bounded', async (t) => {
    await shop.survives(t, async () => {
      const asked = Array.from({ length: 60 }, (_, i) => {
        const from = i % 2 === 0 ? '127.0.1.1' : `127.0.3.${1 + (i % 10)}`
        return neverRead(from, (largeOnes[Math.floor(i / 2) % largeOnes.length] ?? '').repeat(3))
      })
      await Promise.all(asked)
      await shop.recovers(t)
    })
  })

  await t.test('a client that sends a byte now and then gets 408, and later bytes are ignored', async (t) => {
    const before = await orders()
    async function slow(start: string, answers: number): Promise<void> {
      const socket = await shop.open('127.0.4.1')
      socket.write(start)
      const { statuses } = hear(socket)
      socket.write(await drip(socket, order, answers))
      socket.write(post + order)
      await until(() => socket.destroyed, 'it is closed')
      t.equal(statuses().length, answers, 'one answer for each request')
      t.equal(statuses().at(-1), 408)
    }
    await shop.survives(t, async () => {
      const starts = [post, 'POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/xml\r\nX-Slow: ', look + post]
      await Promise.all(Array.from({ length: 60 }, (_, i) => slow(starts[i % starts.length] ?? '', i % starts.length === 2 ? 2 : 1)))
      await shop.recovers(t)
    })
    t.equal(await orders(), before, 'no order was placed')
  })

  await t.test('five hundred connections of one address at once, of every kind', async (t) => {
    const from = '127.0.5.1'
    const kinds: readonly ((i: number) => Promise<unknown>)[] = [
      () => shop.open(from),
      (i) => neverRead(from, (largeOnes[i % largeOnes.length] ?? '').repeat(4)),
      () => neverRead(from, message('GET /catalogue').repeat(60)),
      () => neverRead(from, message('GET /products?q=steel+bolt').repeat(100)),
      () => neverRead(from, look.repeat(400)),
      async (i) => neverRead(from, beginnings[i % beginnings.length] ?? ''),
      async () => drip(await shop.open(from), post + order),
      async (i) => {
        const socket = await shop.open(from)
        socket.write(beginnings[i % beginnings.length] ?? '', 'latin1')
        socket.resetAndDestroy()
      },
      async () => drip(await shop.open(from), message('GET /catalogue', { accept: 'text/csv' }))
    ]
    await shop.survives(t, async () => {
      await Promise.all(Array.from({ length: 500 }, (_, i) => kinds[i % kinds.length]?.(i)))
      shop.leave()
      await shop.recovers(t)
    })
  })
})

const descriptors = 4_096
const idle = 4_100

/** How many files this process may open: it needs as many as it makes connections. */
function ownDescriptors(): number {
  return Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
}

const skip =
  ownDescriptors() > idle + 200 ? false : `this process may open ${ownDescriptors()} files only: fewer than ${idle} connections need`

t.test(`${idle} idle connections to a service that may open ${descriptors} files`, { skip }, async (t) => {
  // No time limit closes a connection: whichever is closed has been refused.
  const shop = await startHostile(t, { HEADERS_TIMEOUT: '3600', REQUEST_TIMEOUT: '3600' }, { descriptors })
  await shop.survives(t, async () => {
    const all: Socket[] = []
    while (all.length < idle) all.push(...(await Promise.all(Array.from({ length: 100 }, () => shop.open('127.0.6.1')))))
    for (const socket of all) socket.resume()
    await until(() => all.some((socket) => socket.destroyed), 'connections are refused')
    t.ok(shop.sockets() < descriptors)
    // Each on a connection of its own.
    const newcomers = await Promise.all(Array.from({ length: 8 }, (_, i) => shop.send({ path: '/product/ABC-1' }, `127.0.7.${1 + i}`)))
    t.ok(
      newcomers.every(({ status }) => status === 200),
      'there is room for who comes from elsewhere'
    )
    shop.leave()
    await shop.recovers(t)
  })
  t.equal((await shop.send({ path: '/product/ABC-1' })).status, 200, 'it serves again')
})
