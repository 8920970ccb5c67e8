/** Measures whether the memory of a service stays the same under a mixed load at a fixed rate. See README.md. */

import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeCursor } from '../http/paging.ts'
import { compile } from '../test/cli/compile.ts'
import { productId } from './catalogue.ts'
import { catalogueFile } from './catalogue-file.ts'
import { type Load, startLoader } from './load.ts'
import { commandLine, machine, median, newFolder, pick, print, random, table } from './measure.ts'
import { family, listening, memoryOf, startProcess } from './process.ts'
import { order } from './releases.ts'
import { authorization, createSellerKey, get, openFile, post, postOrder, productIds, putStockedProducts } from './shop.ts'

const { directory, minutes, warmup, products, seed } = commandLine({ minutes: 30, warmup: 3, products: 100_000 })

/** Seconds between two samples. */
const interval = 5
const next = random(seed)
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const line = () => pick(next, productIds)
const any = () => productId(Math.floor(products * next()), products)
const html = (request: string) => request.replace('Host: shop', 'Host: shop\r\nAccept: text/html')

/** Small requests. Each list is as long as its share of the load. */
const small: readonly string[] = [
  ...times(400, () => get(`/product/${any()}`)),
  ...times(50, () => html(get(`/product/${any()}`))),
  ...times(150, () => get(`/products?after=${writeCursor('id', any())}`)),
  ...times(50, () => html(get('/products'))),
  ...times(50, () => get(`/products?q=${pick(next, ['hex', 'bolt', 'sealed+pump', 'nothing-has-this', 'm8'])}`)),
  ...times(100, () => get('/events', { authorization })),
  ...times(100, () => postOrder(next)),
  ...times(50, () => post('application/json', JSON.stringify({ item: [{ productId: line(), quantity: 1 }] }))),
  ...times(50, () => post('application/x-www-form-urlencoded', `item.1.product-id=${line()}&item.1.quantity=2`)),
  ...times(20, () => post('application/xml', '<purchase-order><item><quantity>none</quantity></item></purchase-order>')),
  ...times(10, () => post('application/xml', '<purchase-order><item>')),
  ...times(10, () => post('application/json', '{"item":')),
  ...times(10, () => post('text/plain', 'a bolt'))
]
const large: readonly string[] = times(20, () => order(2_000, next))

/** 100 small requests a second, and a large order every 9 seconds, since a new connection must send within 10. */
const loads = (port: number, minutes: number): readonly Load[] => {
  const common = { port, milliseconds: minutes * 60_000, seed }
  return [
    { ...common, requests: small, clients: 10, every: 100 },
    { ...common, requests: large, clients: 1, every: 9_000 }
  ]
}

interface Sample {
  /** Hours since the first sample. */
  readonly at: number
  readonly main: number
  readonly all: number
}

const minuteOf = ({ at }: Sample): number => Math.floor(at * 60)

/** The slope of the least-squares line and its standard error, in MB an hour, of the medians of each minute. */
function slope(samples: readonly Sample[], memory: (sample: Sample) => number): { readonly slope: number; readonly error: number } {
  const minutes = [...new Set(samples.map(minuteOf))]
  const points = minutes.map((minute) => ({
    x: minute / 60,
    y: median(samples.filter((sample) => minuteOf(sample) === minute).map(memory)) / 2 ** 20
  }))
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  const slope = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread
  const rest = points.reduce((sum, point) => sum + (point.y - y - slope * (point.x - x)) ** 2, 0)
  return { slope, error: Math.sqrt(rest / (points.length - 2) / spread) }
}

async function sampled(pid: number, minutes: number): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  const start = performance.now()
  for (let due = start; due < start + minutes * 60_000; due += interval * 1000) {
    await sleep(Math.max(0, due - performance.now()))
    const [main = 0, ...others] = family(pid).map(memoryOf)
    samples.push({ at: (performance.now() - start) / 3_600_000, main, all: others.reduce((sum, one) => sum + one, main) })
  }
  return samples
}

function row(name: string, samples: readonly Sample[], memory: (sample: Sample) => number): string[] {
  const part = Math.max(1, Math.ceil(samples.length / 6))
  const middle = (those: readonly Sample[]) => `${(median(those.map(memory)) / 2 ** 20).toFixed(1)} MB`
  const fit = slope(samples, memory)
  return [name, middle(samples.slice(0, part)), middle(samples.slice(-part)), `${fit.slope.toFixed(1)} ± ${fit.error.toFixed(1)} MB/h`]
}

async function main(folder: string): Promise<void> {
  const path = join(folder, 'shop.db')
  copyFileSync(await catalogueFile(directory, products, seed), path)
  const store = await openFile(path)
  await putStockedProducts(store)
  await createSellerKey(store)
  await store.close()

  const settings = { DATABASE_URL: `sqlite:${path}`, PORT: '0', RATE_LIMIT: 'off', OVERLOAD_DELAY: 'off', SAMPLE_CATALOGUE: 'off' }
  const service = startProcess(join(await compile(), 'server.js'), [], settings)
  const loaders = [startLoader(), startLoader()]
  const run = (minutes: number) => Promise.all(loads(port, minutes).map((load, i) => loaders[i]?.run(load)))
  const port = Number(new URL(await listening(service)).port)
  try {
    await run(warmup)
    const [answered, samples] = await Promise.all([run(minutes), sampled(service.child.pid ?? 0, minutes)])
    const rates = answered.map((one) => `${one?.latencies.length} requests, ${one?.others} of them not answered with 200`)
    print('# Memory under a mixed load (SQLite)', machine(directory))
    print(`${minutes} minutes after ${warmup} of warm-up, ${products} products. Small: ${rates[0]}. Large: ${rates[1]}.`)
    print(
      table(
        ['resident memory', 'median of the first sixth', 'of the last', 'slope ± standard error'],
        [row('the main process', samples, ({ main }) => main), row('all processes', samples, ({ all }) => all)]
      )
    )
  } finally {
    service.child.kill('SIGKILL')
    await Promise.all(loaders.map((loader) => loader.close()))
  }
}

const folder = newFolder(directory)
try {
  await main(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
