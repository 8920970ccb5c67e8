/** The entry of the search thread. */

import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import type { ProductQuery } from '../../domain/store.ts'
import { serve } from '../../threads/serve.ts'
import type { Failure } from '../outcomes.ts'
import { checkFile, connectReader } from './connection.ts'
import { failureOf } from './failures.ts'
import { makeProductPages } from './product-pages.ts'

export interface SearchData {
  readonly path: string
  /** The `fileIdentity` of the file when the store was opened. */
  readonly identity: string
  readonly currency: string
}

export type Found = { readonly page: Page<Product> } | { readonly failure: Failure }

serve(({ path, identity, currency }: SearchData) => {
  checkFile(path, identity)
  const db = connectReader(path)
  const pages = makeProductPages(db, currency)
  const find = (query: ProductQuery): Found => {
    try {
      checkFile(path, identity)
      return { page: pages(query) }
    } catch (error) {
      return { failure: failureOf(error, path) }
    }
  }
  return { answer: (query: ProductQuery) => ({ answer: find(query) }), close: () => db.close() }
})
