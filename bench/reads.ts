/** Measures GET over HTTP during orders, with and without the body cache, and with the status 200 and 304. See README.md. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../domain/store.ts'
import { at, heads, type Measured, row, under } from './latency.ts'
import { type Answered, type Load, startLoader } from './load.ts'
import { interleave, machine, median, newFolder, print, random, ratio, settings, table } from './measure.ts'
import { placeFor } from './order-rates.ts'
import { get, openFile, postOrder, putStockedProducts, type Served, serve, tagOf } from './shop.ts'

const options = settings({ rounds: 5, seconds: 1.5 })
const { directory, rounds, milliseconds, seed } = options
const folder = newFolder(directory)
const [readers, buyers] = [startLoader(), startLoader()]
const next = random(seed)
const load = { milliseconds, seed, status: 200 }

const shares = { p50: 0.5, p99: 0.99 } as const
const medians = (answers: readonly Answered[]) => Object.values(shares).map((share) => median(at(answers, share)).toFixed(2))
const ratios = (answers: readonly Answered[], baseline: readonly Answered[]) =>
  Object.values(shares).map((share) => ratio(at(answers, share), at(baseline, share)).text)

/** Measures readers that send at a fixed interval, so that their own load does not determine their latency. */
async function besideOrders(store: Store, shop: Served, ids: readonly string[]): Promise<string> {
  const reads = under(readers, shop, { ...load, requests: ids.map((id) => get(`/product/${id}`)), clients: 8, every: 20 })
  const orders: Omit<Load, 'port'> = { ...load, requests: Array.from({ length: 1_000 }, () => postOrder(next)), clients: 64, status: 201 }
  const fastest = await under(buyers, shop, orders)()
  const half = { ...orders, every: (2 * 1000 * orders.clients) / fastest.perSecond }
  const beside = async (writing: Promise<unknown>) => (await Promise.all([reads(), writing]))[0]
  const contest = {
    idle: reads,
    'orders through the Store, 64 clients': () => beside(placeFor(store, 64, options)),
    'orders over HTTP, 64 clients, at half of the highest rate': () => beside(under(buyers, shop, half)()),
    'orders over HTTP, 64 clients, at the highest rate': () => beside(under(buyers, shop, orders)())
  }
  const { idle, ...busy } = await interleave(rounds, contest, seed)
  const rows = Object.entries(busy).map(([name, answers]) => [name, ...medians(answers), ...ratios(answers, idle)])
  return table(
    ['GET /product while', 'p50, ms', 'p99, ms', 'p50, ratio to idle', 'p99, ratio to idle'],
    [['idle', ...medians(idle), 1, 1], ...rows]
  )
}

/** Measures one client that sends one request at a time, so that no request waits for another. */
const alone = (shop: Served, requests: readonly string[], status = 200) => under(readers, shop, { ...load, clients: 1, requests, status })

async function against(what: string, contest: Readonly<Record<string, () => Promise<Measured>>>): Promise<string> {
  const runs = await interleave(rounds, contest, seed)
  const [first = []] = Object.values(runs)
  return table(
    heads(what),
    Object.entries(runs).map(([name, measured]) => row(name, measured, first))
  )
}

/** Compares the same resources with and without the body cache, as 200 and as 304. */
async function compareCaching(what: string, plain: Served, shop: Served, paths: readonly string[]): Promise<string> {
  const full = paths.map((path) => get(path))
  const known = await Promise.all(paths.map(async (path) => get(path, { tag: await tagOf(shop, path) })))
  return against(what, {
    '200, BODY_CACHE=0': alone(plain, full),
    '200, with the body cache': alone(shop, full),
    '304, BODY_CACHE=0': alone(plain, known, 304),
    '304, with the body cache': alone(shop, known, 304)
  })
}

const store = await openFile(join(folder, 'shop.db'))
const ids = await putStockedProducts(store)
const shop = await serve(store)
const plain = await serve(store, { BODY_CACHE: '0' })
try {
  print('# Reads over HTTP (SQLite, 1,000 products)', machine(directory))
  print('## Beside orders', await besideOrders(store, shop, ids))
  const some = ids.slice(0, 100).map((id) => `/product/${id}`)
  print('## The body cache, and 304', await compareCaching('GET /product', plain, shop, some))
  print(await compareCaching('GET /products, a page of 100', plain, shop, ['/products']))
} finally {
  await Promise.all([readers.close(), buyers.close(), shop.close(), plain.close()])
  rmSync(folder, { recursive: true, force: true })
}
