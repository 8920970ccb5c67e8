import { ordersAudience } from '../../domain/event.ts'
import { isSearch, type Store } from '../../domain/store.ts'
import { notStored } from '../outcomes.ts'
import { type Connection, checkFile, connectReader, databasePath, fileIdentity } from './connection.ts'
import { storeCurrency } from './currency.ts'
import { makeEventReader } from './event-reader.ts'
import { explained, openError } from './explain.ts'
import { isOutOfReach } from './failures.ts'
import { migrateSqlite } from './migrations.ts'
import { makeProductBatches, readAll } from './product-batches.ts'
import { makeProductPages } from './product-pages.ts'
import { makeReader } from './reader.ts'
import { Searcher } from './searcher.ts'
import { makeShipmentReader } from './shipments.ts'
import { makeWebhookReader } from './webhook-reader.ts'
import { SqliteWriter } from './writer.ts'
import type { WriterData } from './writer-thread.ts'

export interface SqliteOptions {
  /** The path of the database file. A missing directory is created. */
  readonly path: string
  /** The currency of the prices, ISO 4217. */
  readonly currency: string
}

/**
 * Opens the store in a file. The file is made or migrated first.
 * @throws StoreOpenError if the file cannot be opened, is newer than this code, is not Tradepost's, or has another currency
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { store } = await openWithWriter(options)
  return store
}

type OpenOptions = SqliteOptions & Pick<WriterData, 'maxPages' | 'maxBatch'>

/** Opens the store and also returns its writer, for benches and for tests that kill the writer or fill its disk. */
export async function openWithWriter(options: OpenOptions): Promise<{ store: Store; writer: SqliteWriter }> {
  await migrateSqlite(options.path, (db) => storeCurrency(db, options.currency))
  let writer: SqliteWriter | undefined
  try {
    const data = { ...options, identity: fileIdentity(options.path) }
    writer = new SqliteWriter(data)
    await writer.start()
    return { store: makeStore(connectReader(data.path), connectReader(data.path, 'scan'), writer, data), writer }
  } catch (error) {
    await writer?.close()
    throw openError(error, databasePath(options.path))
  }
}

function makeStore(db: Connection, scanner: Connection, writer: SqliteWriter, { path, identity, currency }: WriterData): Store {
  const reader = makeReader(db, currency)
  const events = makeEventReader(db)
  const shipments = makeShipmentReader(db)
  const webhooks = makeWebhookReader(db)
  const pages = makeProductPages(db, currency)
  const batches = makeProductBatches(scanner, currency)
  const searcher = new Searcher({ path, identity, currency })
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    await Promise.all([writer.drain(), searcher.close()])
    // The writer is closed last: the last connection checkpoints the log into the file, which a reader cannot do.
    db.close()
    scanner.close()
    await writer.close()
  }

  let isFileChecked = false

  /** Checks the file once in a turn of the event loop. @throws SqliteError, Error */
  function checkOnce(): void {
    if (isFileChecked) return
    checkFile(path, identity)
    isFileChecked = true
    setImmediate(() => (isFileChecked = false))
  }

  async function read<T>(query: () => T): Promise<T> {
    if (!db.open) throw notStored()
    try {
      checkOnce()
      return query()
    } catch (error) {
      throw isOutOfReach(error) ? notStored(explained(error, path)) : error
    }
  }

  /** Undefined if the database is out of reach. */
  function readNow<T>(query: () => T): T | undefined {
    try {
      checkOnce()
      return query()
    } catch {
      return undefined
    }
  }

  return {
    versions: {
      product: (id) => readNow(() => reader.productVersion(id)),
      catalogue: () => readNow(() => reader.revision().revision),
      database: () => readNow(reader.dataVersion)
    },
    product: (id) => read(() => reader.product(id)),
    products: (query) => (isSearch(query) ? searcher.search(query) : read(() => pages(query))),
    mainCategories: (limit) => read(() => reader.mainCategories(limit)),
    revision: () => read(reader.revision),
    createProduct: (id, draft) => writer.run('createProduct', id, draft),
    putProduct: (id, draft, expected) => writer.run('putProduct', id, draft, expected),
    deleteProduct: (id, expected) => writer.run('deleteProduct', id, expected),
    importProducts: (batch, mode) => writer.run('importProducts', batch, mode),
    allProducts: () => readAll((after) => read(() => batches(after))),
    stock: (productId) => read(() => reader.stock(productId)),
    putStock: (productId, onHand, expected) => writer.run('putStock', productId, onHand, expected),

    placeOrder: (placing) => writer.run('placeOrder', placing),
    order: (id) => read(() => reader.order(id)),
    orderNumbered: (customer, orderNumber) => read(() => reader.orderNumbered(customer, orderNumber)),
    documentOf: (id) => read(() => reader.documentOf(id)),
    orders: (query) => read(() => reader.orders(query)),
    wholeOrders: (query) => read(() => reader.wholeOrders(query)),
    // When no event of an order is kept, the last event of all stands for it.
    ordersRevision: (customer) => read(() => (events.lastEvent(ordersAudience(customer)) ?? events.lastEvent())?.id ?? ''),
    changeOrder: (...args) => writer.run('changeOrder', ...args),
    setOrderStatus: (...args) => writer.run('setOrderStatus', ...args),
    shipOrder: (...args) => writer.run('shipOrder', ...args),
    shipments: (orderId, query) => read(() => shipments.shipments(orderId, query)),
    shipment: (orderId, number) => read(() => shipments.shipment(orderId, number)),

    eventHeads: (query) => read(() => events.eventHeads(query)),
    events: (heads) => read(() => events.events(heads)),
    lastEvent: (audience) => read(() => events.lastEvent(audience)),
    pruneEvents: (before, most) => writer.run('pruneEvents', before, most),

    createWebhook: (webhook, secret) => writer.run('createWebhook', webhook, secret),
    webhooks: (customer) => read(() => webhooks.webhooks(customer)),
    webhook: (id, customer) => read(() => webhooks.webhook(id, customer)),
    changeWebhook: (...args) => writer.run('changeWebhook', ...args),
    addWebhookSecret: (...args) => writer.run('addWebhookSecret', ...args),
    deleteWebhook: (...args) => writer.run('deleteWebhook', ...args),
    deliveries: (...args) => read(() => webhooks.deliveries(...args)),
    claimWebhooks: (...args) => writer.run('claimWebhooks', ...args),
    settleWebhook: (...args) => writer.run('settleWebhook', ...args),
    renewClaim: (...args) => writer.run('renewClaim', ...args),
    releaseWebhooks: (worker) => writer.run('releaseWebhooks', worker),
    webhookBacklog: () => writer.run('webhookBacklog'),
    redelivery: (...args) => read(() => webhooks.redelivery(...args)),
    logDelivery: (id, delivery) => writer.run('logDelivery', id, delivery),

    createKey: (key) => writer.run('createKey', key),
    keys: () => read(reader.keys),
    revokeKey: (id) => writer.run('revokeKey', id),
    findKey: (hash) => read(() => reader.findKey(hash)),
    touchKeys: (uses) => writer.run('touchKeys', uses),

    isEmpty: () => read(reader.isEmpty),
    async ping() {
      await read(reader.ping)
      // After a failed write, only another write shows whether the database can be written again.
      if (writer.isFailing) await writer.run('ping')
    },
    close() {
      closed ??= close()
      return closed
    }
  }
}
