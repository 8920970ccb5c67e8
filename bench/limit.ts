/** How close the service comes to what the machine can do: each figure beside a bare Fastify that sends the same bytes. See README.md. */

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { compile } from '../test/cli/compile.ts'
import { productId } from './catalogue.ts'
import { catalogueFile } from './catalogue-file.ts'
import { at } from './latency.ts'
import { type Load, startLoader } from './load.ts'
import { commandLine, interleave, machine, median, newFolder, print, random, ratio, table } from './measure.ts'
import { cores, emptyProgram, isShared, pin, pinning, type ServedProcess, serveProcess } from './pinned.ts'
import { megabytes } from './process.ts'
import { exchange, replay } from './recorded.ts'
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
const isWanted = ({ name }: { readonly name: string }) =>
  (floors === undefined || name in floors) && (given.only === undefined || name.includes(given.only))

pin(process.pid, cores.clients)
const loader = startLoader()
/** Posts orders beside the probe. The probe shares its core and goes first, so that it waits only for the server. */
const poster = startLoader(5)
const probe = startLoader()

/** A row of the table: requests to the service, and the response that the bare server replays. */
interface Row extends Pick<Load, 'requests' | 'products'> {
  readonly name: string
  readonly status: number
  /** The route of the bare server. */
  readonly route: string
  /** The least ratio of the rates. */
  readonly goal: number
  /** The cores of the servers. */
  readonly on?: string
}

interface Figure {
  readonly requests: number
  readonly perSecond: number
  /** Microseconds of processor time of all threads for a request. */
  readonly cpu: number
}

async function measure(
  { host, port, cpu }: ServedProcess,
  { requests, products, status }: Pick<Row, 'requests' | 'products' | 'status'>
): Promise<Figure> {
  const load = { milliseconds, seed, clients, port, requests, status, ...(host === undefined ? {} : { host }) }
  const before = cpu()
  const { perSecond, latencies } = await loader.run(products === undefined ? load : { ...load, products })
  return { requests: latencies.length, perSecond, cpu: (cpu() - before) / latencies.length }
}

/** Requests before the first round, while V8 still compiles. After a tenth of them the ratio is only two thirds of the final one. */
const warmUp = 10_000

/** A row below its floor is measured again, because something else may have disturbed the rounds. */
const maxAttempts = 3

const rows: string[][] = []
/** The median ratio of processor time of each row, by its name. It hardly depends on what else the machine does. */
const reached: Record<string, number> = {}

function report(...row: readonly string[]): void {
  rows.push([...row])
  process.stderr.write(`${row.join('  ')}\n`)
}

/** Measures a row. A row with a floor is measured at most `maxAttempts` times, until its ratio of processor time reaches the floor. */
async function compare(service: ServedProcess, row: Row): Promise<void> {
  if (!isWanted(row)) return
  const { name, requests, status, route, goal, on = cores.one } = row
  const floor = floors?.[name]
  const bare = await replay(folder, service, { request: requests[0] ?? '', status, route })
  for (const server of [service, bare]) server.moveTo(on)
  const contestants = { service: () => measure(service, row), bare: () => measure(bare, row) }
  for (const run of Object.values(contestants)) for (let sent = 0; sent < warmUp; ) sent += (await run()).requests
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const runs = await interleave(rounds, contestants, seed)
    const of = (figure: keyof Figure, figures: readonly Figure[]) => figures.map((one) => one[figure])
    const rates = ratio(of('perSecond', runs.service), of('perSecond', runs.bare))
    const cpu = ratio(of('cpu', runs.bare), of('cpu', runs.service))
    const microseconds = (figures: readonly Figure[]) => median(of('cpu', figures)).toFixed(0)
    const processor = Number.isNaN(cpu.middle) ? ['', ''] : [cpu.text, `${microseconds(runs.service)} (${microseconds(runs.bare)})`]
    report(name, rates.text, ...processor, goal > 0 ? `≥ ${goal.toFixed(2)}` : '')
    reached[name] = cpu.middle
    if (floor === undefined || cpu.middle >= floor) break
  }
  await bare.end()
}

const build = await compile()
const limits = { RATE_LIMIT: '1000000000', OVERLOAD_DELAY: 'off', SAMPLE_CATALOGUE: 'off' }
const serve = (database: string, settings: Readonly<Record<string, string>> = {}, where: Parameters<typeof serveProcess>[2] = {}) =>
  serveProcess([join(build, 'server.js')], { ...limits, DATABASE_URL: `sqlite:${database}`, ...settings }, where)

const path = `/product/${productId(Math.floor(products / 2), products)}`
const page = (limit: number) => ({
  name: `page of ${limit}`,
  requests: [get(`/products?limit=${limit}`)],
  status: 200,
  route: '/products',
  goal: 0.8
})
const hot = { name: 'product, hot', requests: [get(path)], status: 200, route: path, goal: 0.9 }
/** The tag of the 304 is known when the service runs. */
const unchanged = { ...hot, name: '304', status: 304, goal: 1 }
const any = { name: 'any product, caches cold', requests: [get(path)], products, status: 200, route: '/product/:id', goal: 0.4 }
const uncached = { ...any, name: 'any product, BODY_CACHE=0' }

async function reads(): Promise<void> {
  if ([hot, unchanged, page(20), page(100)].some(isWanted)) {
    const service = await serve(await catalogue())
    await compare(service, hot)
    const { headers } = await exchange(service, get(path))
    await compare(service, { ...unchanged, requests: [get(path, { tag: headers['etag'] })] })
    for (const limit of [20, 100]) await compare(service, page(limit))
    await service.end()
  }
  for (const [row, settings] of [
    [any, {}],
    [uncached, { BODY_CACHE: '0' }]
  ] as const) {
    if (!isWanted(row)) continue
    const cold = await serve(await catalogue(), settings)
    await compare(cold, row)
    await cold.end()
  }
}

const catalogue = () => catalogueFile(directory, products, seed)

function orderRows(): readonly Row[] {
  const both = `two cores for the server${isShared ? ', shared with the clients' : ''}`
  return [
    { lines: 1, goal: 0.12 },
    { lines: 5, goal: 0.1 },
    { lines: 20, goal: 0.06 }
  ].flatMap(({ lines, goal }) => {
    const requests = Array.from({ length: 500 }, () => order(lines, next))
    const row = { name: `order of ${lines}, XML, durable`, requests, status: 201, route: '/order', goal }
    return [row, { ...row, name: `${row.name}, ${both}`, goal: 2 * goal, on: cores.two }]
  })
}

async function orders(): Promise<void> {
  const wanted = orderRows().filter(isWanted)
  const waits = besideRows.filter(isWanted)
  if (wanted.length + waits.length === 0) return
  const service = await serve(await makeDatabase(directory, build))
  for (const row of wanted) await compare(service, row)
  service.moveTo(cores.one)
  for (const row of waits) await besideOrders(service, row)
  await service.end()
}

const besideRows = [
  { name: 'GET beside saturating orders of another address, p99 to idle', from: '127.0.0.2' },
  { name: 'GET beside saturating orders of its own address, p99 to idle', from: '127.0.0.1' }
] as const

/** How long a client waits for a product while 64 clients order as fast as they are answered. */
async function besideOrders({ port }: ServedProcess, { name, from }: (typeof besideRows)[number]): Promise<void> {
  const reads = { port, milliseconds, seed, requests: [get('/product/ABC-1')], clients: 1, every: 5, status: 200, from }
  const posts = {
    port,
    milliseconds: milliseconds + 200,
    seed,
    requests: Array.from({ length: 500 }, () => order(5, next)),
    clients,
    status: 201
  }
  const beside = async () => {
    const posting = poster.run(posts)
    const read = await probe.run(reads)
    await posting
    return read
  }
  const runs = await interleave(rounds, { idle: () => probe.run(reads), beside }, seed)
  const text = (share: number) => `${median(at(runs.beside, share)).toFixed(1)} (${median(at(runs.idle, share)).toFixed(1)})`
  report(name, ratio(at(runs.beside, 0.99), at(runs.idle, 0.99)).text, '', `p50 ${text(0.5)}, p99 ${text(0.99)} ms`, '≤ 4.00')
}

async function starts(): Promise<void> {
  for (const [on, where] of [
    [cores.one, 'one core'],
    [cores.two, 'two cores']
  ] as const) {
    const name = `start to first answer, ${products} products, ${where}`
    if (isWanted({ name })) await start(await catalogue(), name, on)
  }
}

/** How long a start takes beside a program of Node that does nothing, and what memory the service has a second later. */
async function start(database: string, name: string, on: string): Promise<void> {
  const service = async () => {
    const started = await serve(database, {}, { on, path })
    const cpu = started.cpu()
    await sleep(1_000)
    const { main, all } = started.memory()
    await started.end()
    return { milliseconds: started.startedAfter, cpu, main, all }
  }
  const nothing = async () => ({ milliseconds: await emptyProgram(on), cpu: 0, main: 0, all: 0 })
  const runs = await interleave(rounds, { service, nothing }, seed)
  const of = (figure: keyof (typeof runs.service)[number], from = runs.service) => from.map((one) => one[figure])
  const [time, empty] = [of('milliseconds'), of('milliseconds', runs.nothing)]
  const times = `${median(time).toFixed(0)} ms (\`node -e 0\` ${median(empty).toFixed(0)}), ${(median(of('cpu')) / 1000).toFixed(0)} ms of processor time`
  const memory = `${megabytes(median(of('main')))} resident, ${megabytes(median(of('all')))} with all processes`
  report(name, `${ratio(time, empty).text} of \`node -e 0\``, '', `${times}; ${memory}`, '≤ 300 ms, ≤ 100 MB')
}

/** Another server, named by a URL on the command line, beside a bare Fastify that sends what it sends. */
async function peers(url: string): Promise<void> {
  const { protocol, hostname, port, host, pathname, search } = new URL(url)
  if (protocol !== 'http:') throw new Error(`${url}: only http is measured`)
  const ask = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  const request = given.request === undefined ? ask : readFileSync(given.request, 'utf8').replace(/\r?\n/g, '\r\n')
  const peer: ServedProcess = {
    host: hostname,
    port: Number(port || 80),
    startedAfter: Number.NaN,
    cpu: () => Number.NaN,
    memory: () => ({ main: Number.NaN, all: Number.NaN }),
    moveTo: () => undefined,
    end: async () => {}
  }
  const { status } = await exchange(peer, request)
  await compare(peer, { name: `peer ${url}`, requests: [request], status, route: pathname, goal: 0 })
}

try {
  await reads()
  await orders()
  await starts()
  if (given.peer !== undefined) await peers(given.peer)
  print('# Beside a bare Fastify that sends the same bytes (SQLite)', `${machine(directory)} ${pinning}`)
  print(table(['what', 'requests/s, ratio', 'CPU, ratio', 'CPU of a request, µs (bare)', 'goal'], rows))
  const below = Object.entries(floors ?? {}).filter(([name, floor]) => !((reached[name] ?? 0) >= floor))
  for (const [name, floor] of below) process.stderr.write(`${name}: ${reached[name]?.toFixed(2)} is below the floor of ${floor}\n`)
  if (below.length > 0) process.exitCode = 1
} finally {
  await Promise.all([loader, poster, probe].map((one) => one.close()))
  rmSync(folder, { recursive: true, force: true })
}
