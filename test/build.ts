import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { DestinationStream } from 'pino'
import type { Test } from 'tap'
import { buildApp } from '../app.ts'
import { type Config, readConfig } from '../config.ts'
import type { Scope } from '../domain/caller.ts'
import { decimal } from '../domain/money.ts'
import type { ProductDraft } from '../domain/product.ts'
import type { Store } from '../domain/store.ts'
import { hashKey } from '../http/credentials.ts'
import { openStore } from '../stores/open.ts'
import { sharedDocuments } from './documents/shared.ts'
import { databaseFolder } from './memory.ts'
import { patience } from './patience.ts'
import { newPostgresDatabase, newSqliteFile } from './stores/new-database.ts'

export interface Shop {
  readonly app: FastifyInstance
  readonly store: Store
  readonly config: Config
  /** Makes a key, and the header that shows it. */
  key(customer: string, ...scopes: Scope[]): Promise<{ authorization: string }>
}

export interface BuildOptions {
  /** Settings other than the defaults; the sample is not loaded. */
  readonly settings?: Readonly<Record<string, string>>
  /** Products to start with. */
  readonly products?: Readonly<Record<string, Partial<ProductDraft>>>
  readonly logTo?: DestinationStream
}

/** A product's draft: a bolt of 9.99 with 100 on hand, but for what is given. */
export function draft(given: Partial<ProductDraft> = {}): ProductDraft {
  return {
    name: 'Hex bolt',
    price: decimal('9.99'),
    unit: 'C62',
    categories: [],
    images: [],
    backorder: false,
    onHand: decimal('100'),
    ...given
  }
}

/**
 * The service over a real, new database that goes with the test: a SQLite file, or another database on the PostgreSQL
 * server that TEST_DATABASE_URL names. It closes itself.
 */
export async function build(t: Test, { settings = {}, products = { 'ABC-1': {} }, logTo }: BuildOptions = {}): Promise<Shop> {
  const url = await databaseUrl(t)
  const config = readConfig({
    LOG_LEVEL: logTo ? 'info' : 'silent',
    RATE_LIMIT: 'off',
    OVERLOAD_DELAY: 'off',
    ...patience,
    DATABASE_URL: url,
    ...settings
  })
  const store = await openStore(config.DATABASE_URL, config.CURRENCY)
  const app = await buildApp({ config, store, documents: sharedDocuments, release: 'test', ...(logTo ? { logTo } : {}) })
  t.teardown(() => app.close())
  // In one transaction: a thousand would wait for the disk a thousand times.
  const outcomes = await store.importProducts(Object.entries(products).map(([id, given]) => ({ id, draft: draft(given) })))
  if (outcomes.some((outcome) => outcome !== 'created')) throw new Error(`the products were not created: ${JSON.stringify(outcomes)}`)
  return {
    app,
    store,
    config,
    async key(customer, ...scopes) {
      const key = `tp_${randomBytes(16).toString('hex')}`
      await store.createKey({ customer, scopes, hash: hashKey(key) })
      return { authorization: `Bearer ${key}` }
    }
  }
}

/** A new database that goes with the test. */
export async function databaseUrl(t: Test): Promise<string> {
  const server = process.env['TEST_DATABASE_URL']
  return server === undefined ? `sqlite:${await newSqliteFile(join(databaseFolder(t), 'tradepost.db'))}` : newPostgresDatabase(server)
}

/** The smallest order, or one of several products. */
export function orderXml(quantities: Readonly<Record<string, string | number>> = { 'ABC-1': 1 }, header = ''): string {
  const items = Object.entries(quantities).map(
    ([id, quantity]) => `<item><product-id>${id}</product-id><quantity>${quantity}</quantity></item>`
  )
  return `<purchase-order>${header}${items.join('')}</purchase-order>`
}

export const xml = { 'content-type': 'application/xml' } as const
export const form = { 'content-type': 'application/x-www-form-urlencoded' } as const
/** A form from a browser, which is answered by a page. */
export const browserForm = { ...form, accept: 'text/html' } as const
