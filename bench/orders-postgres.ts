/** Orders a second on PostgreSQL: group commit against one transaction an order, in turn. See README.md. */

import type { Placed, Store } from '../domain/store.ts'
import { DatabaseThread } from '../stores/database-thread.ts'
import type { OrderAnswer, OrderThreadData } from '../stores/postgres/order-thread.ts'
import type { OrderCommand } from '../stores/postgres/order-writes.ts'
import { openPostgresStore } from '../stores/postgres/store.ts'
import { startPostgres } from '../test/stores/embedded.ts'
import { machine, print, settings } from './measure.ts'
import { throughStores } from './order-rates.ts'
import { currency, stockShelves } from './shop.ts'

const given = settings({ rounds: 5, seconds: 1 })
/** Of the store, and of the baseline: orders that are committed at once. */
const poolSize = 10

async function shelved(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, currency, poolSize })
  await stockShelves(store)
  return store
}

type Thread = DatabaseThread<OrderThreadData, readonly OrderCommand[], OrderAnswer>

/** The store's own thread, asked for each order by itself: as many at a time as the thread has connections. */
function oneByOne(thread: Thread): Pick<Store, 'placeOrder'> {
  return {
    async placeOrder(placing) {
      const answer = await thread.ask([{ verb: 'placeOrder', args: [placing] }])
      const [outcome] = 'outcomes' in answer ? answer.outcomes : []
      if (outcome && 'value' in outcome) return outcome.value as Placed
      throw new Error('an order was not placed', { cause: outcome ?? answer })
    }
  }
}

// Where the server puts its data.
process.env['TMPDIR'] = given.directory
const server = await startPostgres()
try {
  const urls = { single: await server.database(), grouped: await server.database() }
  await (await shelved(urls.single)).close()
  const grouped = await shelved(urls.grouped)
  const entry = new URL('../stores/postgres/order-thread.ts', import.meta.url)
  const single: Thread = new DatabaseThread(entry, { url: urls.single, currency, connections: poolSize })
  print('# Orders: group commit against one transaction an order (PostgreSQL)', machine(given.directory))
  print(await throughStores(given, { grouped, single: oneByOne(single) }))
  await Promise.all([grouped.close(), single.close()])
} finally {
  await server.close()
}
