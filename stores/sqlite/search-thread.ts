/** The entry of the search thread. It does the reads that take long, so that neither the serving thread nor the writer waits for them. */

import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import type { ProductQuery } from '../../domain/store.ts'
import type { WebhookBacklog } from '../../domain/webhook.ts'
import { serve } from '../../threads/serve.ts'
import type { Failure } from '../outcomes.ts'
import { checkFile, connectReader } from './connection.ts'
import { explain } from './explain.ts'
import { failureOf } from './failures.ts'
import { makeProductPages } from './product-pages.ts'
import { makeWebhookBacklog, type ScheduleTime } from './webhook-backlog.ts'

export interface SearchData {
  readonly path: string
  /** The `fileIdentity` of the file when the store was opened. */
  readonly identity: string
  readonly currency: string
}

/** The queries that the thread answers, and their results, by verb. */
export interface Findings {
  readonly products: { readonly query: ProductQuery; readonly found: Page<Product> }
  readonly webhookBacklog: { readonly query: ScheduleTime; readonly found: WebhookBacklog }
}

export type Search = { [Verb in keyof Findings]: { readonly verb: Verb; readonly query: Findings[Verb]['query'] } }[keyof Findings]
export type Found = { readonly found: Findings[keyof Findings]['found'] } | { readonly failure: Failure }

serve(({ path, identity, currency }: SearchData) => {
  const { db, pages, backlog } = open()
  function open() {
    try {
      checkFile(path, identity)
      const db = connectReader(path)
      return { db, pages: makeProductPages(db, currency), backlog: makeWebhookBacklog(db) }
    } catch (error) {
      // Only the code of a SqliteError would reach the other thread.
      throw new Error(explain(error, path) ?? String(error))
    }
  }
  const find = ({ verb, query }: Search): Found => {
    try {
      checkFile(path, identity)
      return { found: verb === 'products' ? pages(query) : backlog(query) }
    } catch (error) {
      return { failure: failureOf(error, path) }
    }
  }
  return { answer: (search: Search) => ({ answer: find(search) }), close: () => db.close() }
})
