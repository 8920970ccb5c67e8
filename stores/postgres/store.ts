import type { Store } from '../../domain/store.ts'
import { storeCurrency } from './currency.ts'
import { Database } from './database.ts'
import { makeEvents } from './events.ts'
import { unavailable } from './failures.ts'
import { makeKeys } from './keys.ts'
import { migratePostgres } from './migrations.ts'
import { makeClient, openError } from './open-error.ts'
import { OrderWriter, threadConnections } from './order-writer.ts'
import { makeOrders } from './orders.ts'
import { makeProducts } from './products.ts'
import { makeShipments } from './shipments.ts'
import { makeWebhooks } from './webhooks.ts'

/** The most connections of one process. docs/operations.md tells the operator, who adds them up. */
export const usualPoolSize = 10

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** The currency of the prices, ISO 4217. */
  readonly currency: string
  /** At least two. */
  readonly poolSize?: number
}

/**
 * Opens the store. Its schema is migrated first.
 * @throws StoreOpenError if the database cannot be reached, is newer than this code, is not Tradepost's, or has another currency
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { store } = await openWithWriter(options)
  return store
}

/** Opens the store and also returns its order writer, for tests that kill it. */
export async function openWithWriter({
  url,
  currency,
  poolSize = usualPoolSize
}: PostgresOptions): Promise<{ store: Store; orders: OrderWriter }> {
  await migratePostgres(url)
  const connections = threadConnections(poolSize)
  const database = new Database(url, poolSize - connections)
  const orders = new OrderWriter(database, { url, currency, connections })
  const storingCurrency = storeCurrency(database, currency).catch((error) => {
    throw openError(error, makeClient(url, {}))
  })
  try {
    await Promise.all([orders.open(), storingCurrency])
  } catch (error) {
    await Promise.all([orders.close(), database.close()])
    throw error
  }
  return { store: makeStore(database, orders, currency), orders }
}

function makeStore(database: Database, orders: OrderWriter, currency: string): Store {
  const { drain, ...products } = makeProducts(database, currency)
  let closing: Promise<void> | undefined
  async function close(): Promise<void> {
    await Promise.all([orders.close(), drain()])
    await database.close()
  }
  return {
    ...products,
    ...makeOrders(database),
    ...makeEvents(database),
    ...makeShipments(database),
    ...makeKeys(database),
    ...makeWebhooks(database),
    placeOrder: (placing) => orders.run('placeOrder', placing),
    changeOrder: (...args) => orders.run('changeOrder', ...args),
    setOrderStatus: (...args) => orders.run('setOrderStatus', ...args),
    shipOrder: (...args) => orders.run('shipOrder', ...args),
    async ping() {
      const [row] = await database.query<{ writable: boolean }>(
        "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writable"
      )
      if (!row?.writable) throw unavailable(new Error('the database is read-only'))
      if (!orders.isUp) throw unavailable(new Error('the thread that writes orders is being replaced'))
    },
    close() {
      closing ??= close()
      return closing
    }
  }
}
