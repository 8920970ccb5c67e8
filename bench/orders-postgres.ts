/** Compares orders per second with group commit and with one transaction per order, on PostgreSQL. See README.md. */

import type { Placed, Store } from '../domain/store.ts'
import { Database } from '../stores/postgres/database.ts'
import { makeOrderWrites } from '../stores/postgres/order-writes.ts'
import { openPostgresStore, usualPoolSize } from '../stores/postgres/store.ts'
import { startPostgres } from '../test/stores/embedded.ts'
import { machine, print, settings } from './measure.ts'
import { throughStores } from './order-rates.ts'
import { currency, putStockedProducts } from './shop.ts'

const options = settings({ rounds: 5, seconds: 1 })

async function openStocked(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, currency })
  await putStockedProducts(store)
  return store
}

/** Writes each order in its own transaction, as many at once as the store has connections. */
function oneByOne(database: Database): Pick<Store, 'placeOrder'> {
  const write = makeOrderWrites(database, currency, 'serving')
  return {
    async placeOrder(placing) {
      const [outcome] = await write([{ verb: 'placeOrder', args: [placing] }], 'small')
      if (outcome && 'value' in outcome) return outcome.value as Placed
      throw outcome && 'error' in outcome ? outcome.error : new Error('the order has no outcome')
    }
  }
}

// The server puts its data in this directory.
process.env['TMPDIR'] = options.directory
const server = await startPostgres()
try {
  const urls = { single: await server.database(), grouped: await server.database() }
  await (await openStocked(urls.single)).close()
  const [grouped, database] = [await openStocked(urls.grouped), new Database(urls.single, usualPoolSize)]
  print('# Orders: group commit against one transaction an order (PostgreSQL)', machine(options.directory))
  print(await throughStores(options, { grouped, single: oneByOne(database) }))
  await Promise.all([grouped.close(), database.close()])
} finally {
  await server.close()
}
