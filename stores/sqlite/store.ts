import type { DomainError } from '../../domain/errors.ts'
import { ordersAudience } from '../../domain/event.ts'
import { isSearch, type Store } from '../../domain/store.ts'
import { notStored } from '../outcomes.ts'
import { type Connection, checkFile, connectReader, databasePath, fileIdentity } from './connection.ts'
import { storeCurrency } from './currency.ts'
import { makeEventReader } from './event-reader.ts'
import { explained, openError } from './explain.ts'
import { isDamage, isOutOfReach } from './failures.ts'
import { migrateSqlite } from './migrations.ts'
import { makeProductBatches, readAll } from './product-batches.ts'
import { makeProductPages } from './product-pages.ts'
import { makeReader } from './reader.ts'
import { Searcher } from './searcher.ts'
import { makeShipmentReader } from './shipments.ts'
import { makeWebhookReader } from './webhook-reader.ts'
import { type WriteVerb, writeVerbs } from './write-verbs.ts'
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

type OpenOptions = SqliteOptions & Pick<WriterData, 'maxPages' | 'groupCommit'>

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

type Query = (...args: never[]) => unknown

/** Verbs that return at once, as verbs of the store. */
type Async<Reads extends Readonly<Record<keyof Reads, Query>>> = {
  readonly [Verb in keyof Reads]: (...args: Parameters<Reads[Verb]>) => Promise<ReturnType<Reads[Verb]>>
}

function makeStore(db: Connection, scanner: Connection, writer: SqliteWriter, { path, identity, currency }: WriterData): Store {
  const { productVersion, dataVersion, ping, ...reader } = makeReader(db, currency)
  const events = makeEventReader(db)
  const reads = { ...reader, ...events, ...makeShipmentReader(db), ...makeWebhookReader(db) }
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

  /** The error of the first statement that found the file damaged. Other statements may still work, but the store is not ready any more. */
  let damage: DomainError | undefined

  function note(error: unknown): never {
    if (isDamage(error)) damage ??= error
    throw error
  }

  async function read<T>(query: () => T): Promise<T> {
    if (!db.open) throw notStored()
    try {
      checkOnce()
      return query()
    } catch (error) {
      return note(isOutOfReach(error) ? notStored(explained(error, path)) : error)
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

  const reading = Object.entries<Query>(reads).map(([verb, query]) => [verb, (...args: never[]) => read(() => query(...args))])
  const writing = writeVerbs.map((verb) => [verb, (...args: Parameters<Store[WriteVerb]>) => writer.run(verb, ...args).catch(note)])

  return {
    ...(Object.fromEntries(reading) as Async<typeof reads>),
    ...(Object.fromEntries(writing) as Pick<Store, WriteVerb>),
    versions: {
      product: (id) => readNow(() => productVersion(id)),
      catalogue: () => readNow(() => reader.revision().revision),
      database: () => readNow(dataVersion)
    },
    products: (query) => (isSearch(query) ? searcher.search(query).catch(note) : read(() => pages(query))),
    webhookBacklog: () => searcher.webhookBacklog().catch(note),
    allProducts: () => readAll((after) => read(() => batches(after))),
    // When no event of an order is kept, use the last event of any kind.
    ordersRevision: (customer) => read(() => (events.lastEvent(ordersAudience(customer)) ?? events.lastEvent())?.id ?? ''),
    async ping() {
      if (damage) throw damage
      await read(ping)
      // After a failed write, only another write shows whether the database can be written again.
      if (writer.isFailing) await writer.run('ping')
    },
    close() {
      closed ??= close()
      return closed
    }
  }
}
