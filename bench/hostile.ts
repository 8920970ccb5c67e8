/** Measures how long a customer waits for a product while another address attacks the service. See README.md. */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeExchange, open, startLoader } from './load.ts'
import { comparesReleases, machine, percentile, pick, print, random, settings, table } from './measure.ts'
import { megabytes } from './process.ts'
import { longNamed, order, orderOf, type Release, startReleases } from './releases.ts'
import { get, post } from './shop.ts'

const options = settings({ rounds: 1, seconds: 10 }, [...comparesReleases, 'only'])

interface Attack {
  readonly connections: number
  /** A request, or several from which each connection picks at random. */
  readonly request: string | readonly string[]
  /** Milliseconds. All connections send together after each interval, and are idle until then. Absent: they do not wait. */
  readonly every?: number
  /** Milliseconds after connecting. Then the connection is reset, and another one opened. */
  readonly resetsAfter?: number
  /** Whether the attacker reads each answer and then sends again. Otherwise it never reads. */
  readonly reads: boolean
  /** Whether the shop has the products with long names. */
  readonly longNames?: true
  /** Whether the service runs without a rate limit. */
  readonly unlimited?: true
}

const next = random(options.seed)
const large = order(10_000, next)
const wide = orderOf(longNamed, next)
const minimal = wide.replace('\r\n', '\r\nPrefer: return=minimal\r\n')
const longName = 'a'.repeat(17_000)
const repeated = `{"${longName}":{${Array.from({ length: 20_000 }, (_, i) => `"b${i >> 1}":"1"`).join(',')}}}`
const misplaced = `<purchase-order>${'<item><quantity>1</quantity><product-id>A</product-id></item>'.repeat(20_000)}</purchase-order>`

const smallChunks = `POST /order HTTP/1.1\r\nHost: shop\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(10_900)}`

const attacks: Readonly<Record<string, Attack | undefined>> = {
  nothing: undefined,
  'two clients that post orders of 10,000 lines': { connections: 2, request: large, reads: true },
  '… with RATE_LIMIT=off': { connections: 2, request: large, reads: true, unlimited: true },
  'two clients that post orders of 10,000 products with long names': { connections: 2, request: wide, reads: true, longNames: true },
  '… with Prefer: return=minimal': { connections: 2, request: minimal, reads: true, longNames: true },
  'ten clients that post JSON of 10,000 repeated members': { connections: 10, request: post('application/json', repeated), reads: true },
  'ten clients that post 20,000 misplaced elements': { connections: 10, request: post('application/xml', misplaced), reads: true },
  '100 orders of 10,000 lines at once': { connections: 100, request: large, reads: true },
  '500 connections of one address, a product': { connections: 500, request: get('/product/ABC-1'), reads: true },
  '100 connections that ask for pages of 1,000 products': {
    connections: 100,
    // A page that is asked for again comes from a cache.
    request: Array.from({ length: 400 }, (_, i) => get(`/products?limit=${1_000 - i}`, i % 2 === 0 ? {} : { accept: 'text/html' })),
    reads: true
  },
  '500 idle connections that send 64 KiB of small chunks at once, each second': {
    connections: 500,
    request: smallChunks,
    reads: true,
    every: 1_000
  },
  '500 connections that send 44 KiB of requests and reset, again and again': {
    connections: 500,
    request: get('/').repeat(1_500),
    reads: false,
    resetsAfter: 5
  },
  '200 that pipeline 60 catalogues and read nothing': { connections: 200, request: get('/catalogue').repeat(60), reads: false }
}

/** One connection of the attacker. It reconnects when the service closes it. */
async function attacker(port: number, { request, reads, every, resetsAfter }: Attack, isOver: () => boolean): Promise<void> {
  const requests = [request].flat().map((one) => Buffer.from(one))
  while (!isOver()) {
    try {
      const socket = await open(port)
      if (resetsAfter !== undefined) {
        socket.on('error', () => {}).write(pick(next, requests))
        await sleep(resetsAfter)
        socket.resetAndDestroy()
        continue
      }
      const closed = once(socket, 'close')
      if (!reads) socket.pause().write(pick(next, requests))
      const exchange = makeExchange(socket)
      while (!isOver() && !socket.destroyed) {
        if (every !== undefined) await sleep(every - (performance.now() % every))
        await Promise.race([closed, reads ? exchange(pick(next, requests)) : sleep(100)])
      }
      socket.destroy()
    } catch {
      // The service has closed the connection, so a new one is opened.
      await sleep(20)
    }
  }
}

interface Seen {
  readonly p50: string
  readonly p99: number
  readonly others: string
  readonly memory: string
}

/** Measures the customer's requests during an attack, and then ends the service. */
async function beside({ port, service }: Release, attack: Attack | undefined): Promise<Seen> {
  const loader = startLoader()
  let isOver = false
  service.reset()
  const attackers = attack === undefined ? [] : Array.from({ length: attack.connections }, () => attacker(port, attack, () => isOver))
  const probe = { ...options, port, requests: [get('/product/ABC-1')], clients: 1, every: 20, from: '127.0.0.2' }
  try {
    const { latencies, others } = await loader.run(probe)
    const p99 = percentile(latencies, 0.99)
    return {
      p50: percentile(latencies, 0.5).toFixed(1),
      p99,
      others: `${others} of ${latencies.length}`,
      memory: megabytes(service.peak())
    }
  } catch (error) {
    return { p50: '', p99: Number.NaN, others: (error as Error).message, memory: megabytes(service.peak()) }
  } finally {
    isOver = true
    // The end of the service also ends the requests that still wait for an answer.
    service.child.kill('SIGKILL')
    await Promise.all(attackers)
    await loader.close()
  }
}

const rows: string[][] = []
for (const [name, attack] of Object.entries(attacks)) {
  if (!name.includes(options.only ?? '')) continue
  // The services are restarted for each attack, so that one attack does not affect the next.
  const releases = await startReleases(options, attack?.unlimited ? { RATE_LIMIT: 'off' } : {}, attack?.longNames ? longNamed : [])
  let first: number | undefined
  for (const release of releases) {
    const { p50, p99, others, memory } = await beside(release, attack)
    first ??= p99
    rows.push([name, release.name, p50, p99.toFixed(1), (p99 / first).toFixed(2), others, memory])
  }
}
print('# A customer during an attack (SQLite)', machine(options.directory))
print(table(['attack', 'release', 'p50, ms', 'p99, ms', 'p99, ratio', 'answers but 200', 'resident'], rows))
