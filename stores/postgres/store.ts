import type { Placed, Placing, Store } from '../../domain/store.ts'
import { orderSize } from '../sizes.ts'
import { Batcher } from './batcher.ts'
import { keepCurrency } from './currency.ts'
import { Database } from './database.ts'
import { unavailable } from './failures.ts'
import { makeKeys } from './keys.ts'
import { migratePostgres } from './migrations.ts'
import { makeClient, openError } from './open-error.ts'
import { makeOrders } from './orders.ts'
import { makePlacing } from './placing.ts'
import { makeProducts } from './products.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** The shop's, ISO 4217. */
  readonly currency: string
  /** Connections of this process at most. */
  readonly poolSize?: number
}

/**
 * Opens the store, with its schema brought up to date first.
 * @throws StoreOpenError when it cannot be reached, is newer than this code, not Tradepost's, or has prices in another currency
 */
export async function openPostgresStore({ url, currency, poolSize = 10 }: PostgresOptions): Promise<Store> {
  await migratePostgres(url)
  const database = new Database(url, poolSize)
  try {
    await keepCurrency(database, currency)
  } catch (error) {
    await database.close()
    throw openError(error, makeClient(url, {}))
  }
  const { drain, ...products } = makeProducts(database, currency)
  const placings = new Batcher<Placing, Placed>({
    run: makePlacing(database, currency),
    weight: ({ order }) => orderSize(order),
    parallel: 2
  })
  let closing: Promise<void> | undefined
  async function close(): Promise<void> {
    await Promise.all([placings.close(), drain()])
    await database.close()
  }
  return {
    ...products,
    ...makeOrders(database, currency),
    ...makeKeys(database),
    placeOrder: (placing) => placings.submit(placing),
    async ping() {
      const [row] = await database.query<{ writable: boolean }>(
        "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writable"
      )
      if (!row?.writable) throw unavailable(new Error('the database takes no writes'))
    },
    close() {
      closing ??= close()
      return closing
    }
  }
}
