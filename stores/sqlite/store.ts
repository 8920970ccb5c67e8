import { isSearch, type Store } from '../../domain/store.ts'
import { notStored } from '../outcomes.ts'
import { type Connection, checkFile, connectReader, databasePath, fileIdentity } from './connection.ts'
import { keepCurrency } from './currency.ts'
import { explained, openError } from './explain.ts'
import { isOutOfReach } from './failures.ts'
import { migrateSqlite } from './migrations.ts'
import { makeProductBatches, readAll } from './product-batches.ts'
import { makeProductPages } from './product-pages.ts'
import { makeReader } from './reader.ts'
import { Searcher } from './searcher.ts'
import { SqliteWriter } from './writer.ts'
import type { WriterData } from './writer-thread.ts'

export interface SqliteOptions {
  /** Of the database file; its directory is made when it is missing. */
  readonly path: string
  /** The shop's, ISO 4217. */
  readonly currency: string
}

/**
 * Opens the store in a file, which is made, or brought up to date, first.
 * @throws StoreOpenError when it cannot be opened, is newer than this code, not Tradepost's, or has prices in another currency
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { store } = await openInParts(options)
  return store
}

type Parts = SqliteOptions & Pick<WriterData, 'maxPages' | 'maxBatch'>

/** The store and its writer, for tests that kill it or fill its disk, and for benches. */
export async function openInParts(options: Parts): Promise<{ store: Store; writer: SqliteWriter }> {
  await migrateSqlite(options.path, (db) => keepCurrency(db, options.currency))
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
  const pages = makeProductPages(db, currency)
  const batches = makeProductBatches(scanner, currency)
  const searcher = new Searcher({ path, identity, currency })
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    await Promise.all([writer.drain(), searcher.close()])
    // The reader first: the last connection to close checkpoints the log into the file, which a reader cannot.
    db.close()
    scanner.close()
    await writer.close()
  }

  async function read<T>(look: () => T): Promise<T> {
    if (!db.open) throw notStored()
    try {
      checkFile(path, identity)
      return look()
    } catch (error) {
      throw isOutOfReach(error) ? notStored(explained(error, path)) : error
    }
  }

  return {
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
    orders: (query) => read(() => reader.orders(query)),
    changeOrder: (id, order, expected, mostItems) => writer.run('changeOrder', id, order, expected, mostItems),
    setOrderStatus: (id, status, expected) => writer.run('setOrderStatus', id, status, expected),

    createKey: (key) => writer.run('createKey', key),
    keys: () => read(reader.keys),
    revokeKey: (id) => writer.run('revokeKey', id),
    findKey: (hash) => read(() => reader.findKey(hash)),
    touchKeys: (uses) => writer.run('touchKeys', uses),

    isEmpty: () => read(reader.isEmpty),
    async ping() {
      await read(reader.ping)
      // What could not be written last may be written again by now: only a write tells.
      if (writer.isFailing) await writer.run('ping')
    },
    close() {
      closed ??= close()
      return closed
    }
  }
}
