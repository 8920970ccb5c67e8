/** How close the service comes to what the machine can do: each figure beside a bare Fastify that sends the same bytes. See README.md. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { compile } from '../test/cli/compile.ts'
import type { Recorded } from './bare.ts'
import { productId } from './catalogue.ts'
import { catalogueFile } from './catalogue-file.ts'
import { type Answered, type Load, startLoader } from './load.ts'
import { commandLine, interleave, machine, median, newFolder, percentile, print, random, ratio, table } from './measure.ts'
import { pin, type Served, serveProcess } from './pinned.ts'
import { megabytes } from './process.ts'
import { makeDatabase, order } from './releases.ts'
import { get } from './shop.ts'

const given = commandLine({ rounds: 5, seconds: 2, products: 1_000_000 }, ['floors', 'only', 'peer', 'request'])
const { directory, rounds, products, seed } = given
const milliseconds = given.seconds * 1000
const clients = 64
const folder = newFolder(directory)
const next = random(seed)
/** The least ratios of processor time, by row. Only these rows are measured. */
const floors = given.floors === undefined ? undefined : (JSON.parse(readFileSync(given.floors, 'utf8')) as Record<string, number>)
const isWanted = (name: string) => (floors === undefined || name in floors) && (given.only === undefined || name.includes(given.only))

/** The server has the first core, and the clients the second. */
pin(process.pid, 1)
const loader = startLoader()
const probe = startLoader()

/** A row of the table: requests to the service, and the response that the bare server replays. */
interface Row {
  readonly name: string
  readonly requests: readonly string[]
  readonly status: number
  /** The route of the bare server. */
  readonly route: string
  /** The least ratio of the rates. */
  readonly goal: number
}

interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Sends a complete request, which has no body or one with a Content-Length. */
async function exchange(port: number, request: string): Promise<Response> {
  const [head = '', body = ''] = request.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = Object.fromEntries(
    fields.map((field) => field.split(': ') as [string, string]).filter(([name]) => !/^(host|content-length)$/i.test(name))
  )
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'user-agent': '', ...headers },
    ...(body === '' ? {} : { body })
  })
  return { status: response.status, headers: Object.fromEntries(response.headers), body: Buffer.from(await response.arrayBuffer()) }
}

/** Fields that Node sets itself. */
const nodeFields = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

async function record(service: Served, { requests, status, route }: Row): Promise<Recorded> {
  const response = await exchange(service.port, requests[0] ?? '')
  if (response.status !== status) throw new Error(`${route} answers ${response.status}, not ${status}: ${response.body}`)
  const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => !nodeFields.includes(name)))
  return { method: requests[0]?.startsWith('POST') ? 'POST' : 'GET', route, status, headers, body: response.body.toString('base64') }
}

const loaderPath = new URL('../test/typescript/register.js', import.meta.url).href

/** A bare server for one row. */
async function bare(service: Served, row: Row): Promise<Served> {
  const file = join(folder, 'recorded.json')
  writeFileSync(file, JSON.stringify([await record(service, row)]))
  return serveProcess([`--import=${loaderPath}`, fileURLToPath(new URL('./bare.ts', import.meta.url)), file], {})
}

interface Figure {
  readonly requests: number
  readonly perSecond: number
  /** Microseconds of processor time of all threads for a request. */
  readonly cpu: number
}

async function measure({ port, cpu }: Served, load: Omit<Load, 'port' | 'milliseconds' | 'seed' | 'clients'>): Promise<Figure> {
  const before = cpu()
  const { perSecond, latencies } = await loader.run({ milliseconds, seed, clients, port, ...load })
  return { requests: latencies.length, perSecond, cpu: (cpu() - before) / latencies.length }
}

/** Requests before the first round. Until then V8 compiles: a tenth of them leaves two thirds of the final ratio. */
const warmUp = 10_000

/** A row below its floor is measured again, because something else may have disturbed the rounds. */
const maxAttempts = 3

const rows: string[][] = []
/** The median ratio of processor time of each row, by its name. It hardly depends on what else the machine does. */
const reached: Record<string, number> = {}

/** Measures a row, at most `maxAttempts` times until its ratio of processor time reaches its floor. */
async function compare(service: Served, row: Row): Promise<void> {
  const { name, requests, status, goal } = row
  if (!isWanted(name)) return
  const floor = floors?.[name] ?? 0
  const other = await bare(service, row)
  const contestants = { service: () => measure(service, { requests, status }), bare: () => measure(other, { requests, status }) }
  for (const run of Object.values(contestants)) for (let sent = 0; sent < warmUp; ) sent += (await run()).requests
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const runs = await interleave(rounds, contestants, seed)
    const rates = ratio(
      runs.service.map(({ perSecond }) => perSecond),
      runs.bare.map(({ perSecond }) => perSecond)
    )
    const cpu = ratio(
      runs.bare.map((figure) => figure.cpu),
      runs.service.map((figure) => figure.cpu)
    )
    const microseconds = (figures: readonly Figure[]) => median(figures.map((figure) => figure.cpu)).toFixed(0)
    rows.push([name, rates.text, cpu.text, `${microseconds(runs.service)} (${microseconds(runs.bare)})`, `≥ ${goal.toFixed(2)}`])
    reached[name] = cpu.middle
    process.stderr.write(`${(rows.at(-1) ?? []).join('  ')}\n`)
    if (cpu.middle >= floor) break
  }
  await other.end()
}

const limits = { RATE_LIMIT: '1000000000', OVERLOAD_DELAY: 'off', SAMPLE_CATALOGUE: 'off' }
const build = await compile()
const serve = (database: string, settings: Readonly<Record<string, string>> = {}) =>
  serveProcess([join(build, 'server.js')], { ...limits, DATABASE_URL: `sqlite:${database}`, ...settings })

async function reads(database: string): Promise<void> {
  const service = await serve(database)
  const path = `/product/${productId(Math.floor(products / 2), products)}`
  const { headers } = await exchange(service.port, get(path))
  await compare(service, { name: 'product, hot', requests: [get(path)], status: 200, route: path, goal: 0.9 })
  await compare(service, { name: '304', requests: [get(path, { tag: headers['etag'] })], status: 304, route: path, goal: 1 })
  for (const limit of [20, 100]) {
    await compare(service, {
      name: `page of ${limit}`,
      requests: [get(`/products?limit=${limit}`)],
      status: 200,
      route: '/products',
      goal: 0.8
    })
  }
  await service.end()
  const cold = await serve(database, { BODY_CACHE: '0' })
  const any = Array.from({ length: 20_000 }, () => get(`/product/${productId(Math.floor(products * next()), products)}`))
  await compare(cold, { name: 'any product, BODY_CACHE=0', requests: any, status: 200, route: '/product/:id', goal: 0.4 })
  await cold.end()
}

async function orders(): Promise<void> {
  const service = await serve(await makeDatabase(directory, build))
  for (const [lines, goal] of [
    [1, 0.12],
    [5, 0.1],
    [20, 0.06]
  ] as const) {
    const requests = Array.from({ length: 500 }, () => order(lines, next))
    await compare(service, { name: `order of ${lines}, XML, durable`, requests, status: 201, route: '/order', goal })
  }
  await besideOrders(service)
  await service.end()
}

/** How long a customer waits for a product while others order as fast as they are answered. */
async function besideOrders({ port }: Served): Promise<void> {
  const name = 'GET beside saturating orders, p99 to idle'
  if (!isWanted(name)) return
  const reads = { port, milliseconds, seed, requests: [get('/product/ABC-1')], clients: 1, every: 5, status: 200 }
  const posts = {
    port,
    milliseconds: milliseconds + 200,
    seed,
    requests: Array.from({ length: 500 }, () => order(5, next)),
    clients,
    status: 201
  }
  const beside = async () => {
    const posting = loader.run(posts)
    const read = await probe.run(reads)
    await posting
    return read
  }
  const runs = await interleave(rounds, { idle: () => probe.run(reads), beside }, seed)
  const p99 = (answers: readonly Answered[]) => answers.map(({ latencies }) => percentile(latencies, 0.99))
  rows.push([
    name,
    ratio(p99(runs.beside), p99(runs.idle)).text,
    '',
    `${median(p99(runs.beside)).toFixed(1)} (${median(p99(runs.idle)).toFixed(1)}) ms`,
    '≤ 4.00'
  ])
}

async function starts(database: string): Promise<void> {
  const name = `start to first answer, ${products} products`
  if (!isWanted(name)) return
  const found: { milliseconds: number; memory: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const service = await serve(database)
    await sleep(1_000)
    if (round > 0) found.push({ milliseconds: service.startedAfter, memory: service.memory() })
    await service.end()
  }
  const [time, memory] = [median(found.map((one) => one.milliseconds)), median(found.map((one) => one.memory))]
  rows.push([name, '', '', `${time.toFixed(0)} ms, ${megabytes(memory)} resident`, '≤ 300 ms, ≤ 100 MB'])
}

/** Another server, named by a URL on the command line, beside a bare Fastify that sends what it sends. */
async function peers(url: string): Promise<void> {
  const { port, pathname, search } = new URL(url)
  const request = given.request === undefined ? get(`${pathname}${search}`) : readFileSync(given.request, 'utf8').replace(/\r?\n/g, '\r\n')
  const peer: Served = {
    port: Number(port),
    startedAfter: Number.NaN,
    cpu: () => Number.NaN,
    memory: () => Number.NaN,
    end: async () => {}
  }
  const { status } = await exchange(peer.port, request)
  await compare(peer, { name: `peer ${url}`, requests: [request], status, route: pathname, goal: 0 })
}

try {
  const database = await catalogueFile(directory, products, seed)
  await reads(database)
  await orders()
  await starts(database)
  if (given.peer !== undefined) await peers(given.peer)
  print('# Beside a bare Fastify that sends the same bytes (SQLite)', machine(directory))
  print(table(['what', 'requests/s, ratio', 'CPU, ratio', 'CPU of a request, µs (bare)', 'goal'], rows))
  const below = Object.entries(floors ?? {}).filter(([name, floor]) => !((reached[name] ?? 0) >= floor))
  for (const [name, floor] of below) process.stderr.write(`${name}: ${reached[name]?.toFixed(2)} is below the floor of ${floor}\n`)
  if (below.length > 0) process.exitCode = 1
} finally {
  await Promise.all([loader.close(), probe.close()])
  rmSync(folder, { recursive: true, force: true })
}
