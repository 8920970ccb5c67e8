/** The entry of the thread that searches: one database at a time, opened and closed by message. */

import { parentPort } from 'node:worker_threads'
import { PositionError } from '../../domain/errors.ts'
import type { Product } from '../../domain/product.ts'
import type { Page, ProductQuery } from '../../domain/store.ts'
import { type Connection, checkFile, connectReader } from './connection.ts'
import { type Failure, toFailure } from './failures.ts'
import { makeProductPages } from './product-pages.ts'

export interface ReaderData {
  readonly path: string
  /** As `fileIdentity` gave it when the store was opened. */
  readonly identity: string
  readonly currency: string
}

export type ToReader = { readonly open: ReaderData } | { readonly query: ProductQuery } | 'close'
export type FromReader =
  | 'opened'
  | 'closed'
  | { readonly page: Page<Product> }
  | { readonly failure: Failure }
  /** What was said of `after`. */
  | { readonly position: string }

interface Open {
  readonly db: Connection
  readonly read: (query: ProductQuery) => Page<Product>
}

function open({ path, identity, currency }: ReaderData): Open {
  checkFile(path, identity)
  const db = connectReader(path)
  const pages = makeProductPages(db, currency)
  const read = (query: ProductQuery) => {
    checkFile(path, identity)
    return pages(query)
  }
  return { db, read }
}

let current: Open | undefined

function act(message: ToReader): FromReader {
  if (message === 'close') {
    current?.db.close()
    current = undefined
    return 'closed'
  }
  if ('open' in message) {
    current = open(message.open)
    return 'opened'
  }
  if (!current) throw new Error('a query came before its database')
  try {
    return { page: current.read(message.query) }
  } catch (error) {
    return error instanceof PositionError ? { position: error.message } : { failure: toFailure(error) }
  }
}

// What is thrown here ends the thread, and the other side starts another.
parentPort?.on('message', (message: ToReader) => parentPort?.postMessage(act(message)))
