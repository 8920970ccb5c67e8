/** Compares orders per second with group commit and with one transaction per order, on SQLite. See README.md. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../domain/store.ts'
import { under } from './latency.ts'
import { startLoader } from './load.ts'
import { machine, newFolder, print, random, settings } from './measure.ts'
import { compareRates, throughStores } from './order-rates.ts'
import { openFile, postOrder, putStockedProducts, type Served, serve } from './shop.ts'

const options = settings({ rounds: 5, seconds: 1 })
const folder = newFolder(options.directory)

async function openStocked(name: string, groupCommit: boolean): Promise<Store> {
  const store = await openFile(join(folder, `${name}.db`), groupCommit)
  await putStockedProducts(store)
  return store
}

async function throughStore(): Promise<string> {
  const stores = { single: await openStocked('single', false), grouped: await openStocked('grouped', true) }
  const rates = await throughStores(options, stores)
  await Promise.all([stores.single.close(), stores.grouped.close()])
  return rates
}

async function throughHttp(): Promise<string> {
  const shops = {
    single: await serve(await openStocked('http-single', false)),
    grouped: await serve(await openStocked('http-grouped', true))
  }
  const loader = startLoader()
  const next = random(options.seed)
  const requests = Array.from({ length: 1_000 }, () => postOrder(next))
  const post = (shop: Served, clients: number) => async () => {
    const { perSecond } = await under(loader, shop, { ...options, requests, clients, status: 201 })()
    return perSecond
  }
  const rates = await compareRates(options, [64], (clients) => ({
    single: post(shops.single, clients),
    grouped: post(shops.grouped, clients)
  }))
  await Promise.all([loader.close(), shops.single.close(), shops.grouped.close()])
  return rates
}

try {
  print('# Orders: group commit against one transaction an order (SQLite)', machine(options.directory))
  print('## Through the Store', await throughStore())
  print('## Over HTTP, as XML', await throughHttp())
} finally {
  rmSync(folder, { recursive: true, force: true })
}
