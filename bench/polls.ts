/** Compares polls that find nothing new with a product that has not changed: each is answered with 304. See README.md. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../domain/store.ts'
import { openPostgresStore } from '../stores/postgres/store.ts'
import { startPostgres } from '../test/stores/embedded.ts'
import { heads, row, under } from './latency.ts'
import { startLoader } from './load.ts'
import { interleave, machine, newFolder, print, random, settings, table } from './measure.ts'
import { authorization, createSellerKey, currency, get, openFile, placing, putStockedProducts, type Served, serve, tagOf } from './shop.ts'

const { directory, rounds, milliseconds, seed } = settings({ rounds: 7, seconds: 1 })
/** The target: a poll may take at most this many times as long as the product. */
const target = 1
const loader = startLoader()

/** The page of events after the newest one. */
async function newestEvents({ port }: Served): Promise<string> {
  for (let path = '/events?limit=1000'; ; ) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization, accept: 'application/json' } })
    const page = (await response.json()) as { event: unknown[]; link: { rel: string; href: string }[] }
    if (page.event.length === 0) return path
    path = page.link.find(({ rel }) => rel === 'next')?.href ?? path
  }
}

async function measure(name: string, store: Store): Promise<string> {
  const next = random(seed)
  const [product = ''] = await putStockedProducts(store)
  await Promise.all(Array.from({ length: 1_000 }, () => store.placeOrder(placing(next))))
  await createSellerKey(store)
  const shop = await serve(store)
  const unchanged = async (path: string) => {
    const requests = [get(path, { tag: await tagOf(shop, path, authorization), authorization })]
    return under(loader, shop, { requests, clients: 1, milliseconds, seed, status: 304 })
  }
  const contest = {
    product: await unchanged(`/product/${product}`),
    events: await unchanged(await newestEvents(shop)),
    orders: await unchanged('/orders'),
    'orders, since a time': await unchanged('/orders?modified-since=2020-01-01T00:00:00Z')
  }
  const runs = await interleave(rounds, contest, seed)
  await shop.close()
  const rows = Object.entries(runs).map(([path, measured]) => row(path, measured, runs.product, target))
  return table(heads(`304, ${name}`), rows)
}

const folder = newFolder(directory)
process.env['TMPDIR'] = directory
const server = await startPostgres()
try {
  const sqlite = await measure('SQLite', await openFile(join(folder, 'shop.db')))
  const postgres = await openPostgresStore({ url: await server.database(), currency })
  print('# Polls with nothing new, one client with a key', machine(directory))
  print(sqlite, await measure('PostgreSQL', postgres))
} finally {
  await Promise.all([loader.close(), server.close()])
  rmSync(folder, { recursive: true, force: true })
}
