import type { Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import type { Database } from '../../stores/postgres/database.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import type { EmbeddedPostgres } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'

interface ShopOnPostgres<Second> {
  readonly url: string
  readonly store: Store
  readonly database: Second
}

/** The database of a new shop with its store, and a second pool of connections to it, for its statements themselves. */
export async function openShopOn<Second extends Database>(
  t: Test,
  server: Pick<EmbeddedPostgres, 'database'>,
  Pool: new (url: string, poolSize: number) => Second,
  poolSize: number
): Promise<ShopOnPostgres<Second>> {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  const database = new Pool(url, poolSize)
  t.teardown(() => Promise.all([store.close(), database.close()]))
  return { url, store, database }
}
