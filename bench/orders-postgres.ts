/** Orders a second on PostgreSQL: group commit against one transaction an order, in turn. See README.md. */

import type { Placed, Store } from '../domain/store.ts'
import { Database } from '../stores/postgres/database.ts'
import { makeOrderWrites } from '../stores/postgres/order-writes.ts'
import { openPostgresStore } from '../stores/postgres/store.ts'
import { startPostgres } from '../test/stores/embedded.ts'
import { machine, print, settings } from './measure.ts'
import { throughStores } from './order-rates.ts'
import { currency, stockShelves } from './shop.ts'

const given = settings({ rounds: 5, seconds: 1 })
const poolSize = 10

async function shelved(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, currency, poolSize })
  await stockShelves(store)
  return store
}

/** The store's own transaction with one order in it, as many at a time as the store has connections. */
function oneByOne(database: Database): Pick<Store, 'placeOrder'> {
  const write = makeOrderWrites(database, currency, 'serving')
  return {
    async placeOrder(placing) {
      const [outcome] = await write([{ verb: 'placeOrder', args: [placing] }])
      if (outcome && 'value' in outcome) return outcome.value as Placed
      throw outcome?.error ?? new Error('an order without an outcome')
    }
  }
}

// Where the server puts its data.
process.env['TMPDIR'] = given.directory
const server = await startPostgres()
try {
  const urls = { single: await server.database(), grouped: await server.database() }
  await (await shelved(urls.single)).close()
  const [grouped, database] = [await shelved(urls.grouped), new Database(urls.single, poolSize)]
  print('# Orders: group commit against one transaction an order (PostgreSQL)', machine(given.directory))
  print(await throughStores(given, { grouped, single: oneByOne(database) }))
  await Promise.all([grouped.close(), database.close()])
} finally {
  await server.close()
}
