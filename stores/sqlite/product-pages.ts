import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import type { ProductQuery } from '../../domain/store.ts'
import { position, toPage } from '../paging.ts'
import { productColumns } from '../rows.ts'
import type { Connection } from './connection.ts'
import { type ProductRow, toProduct } from './rows.ts'
import { matchExpression } from './search.ts'

/** Up to this many changed products are found by time and then sorted. If there are more, a scan by id finds enough of them. */
const maxSorted = 10_000

interface Bound {
  readonly after: string | number
  readonly limit: number
  readonly category: string | undefined
  readonly since: number | undefined
  readonly match: string | undefined
}

/** Reads pages of products by keyset: by id, or by row number for a text search. Each query follows an index in the page's order. */
export function makeProductPages(db: Connection, currency: string): (query: ProductQuery) => Page<Product> {
  const prepare = (from: string, order: string) =>
    db.prepare<[Bound], ProductRow>(`SELECT ${productColumns} FROM ${from} ORDER BY ${order} LIMIT @limit`)
  const all = prepare('product p INDEXED BY product_live WHERE p.deleted = 0 AND p.id > @after AND p.modified_at >= @since', 'p.id')
  const ofCategory = prepare(
    `category c CROSS JOIN product p ON p.id = c.product
      WHERE c.category = @category AND c.product > @after AND p.modified_at >= @since`,
    'c.product'
  )
  const changed = prepare(
    `product p WHERE p.id IN (
      SELECT id FROM product INDEXED BY product_modified WHERE deleted = 0 AND modified_at >= @since AND id > @after
        AND (@category IS NULL OR EXISTS (SELECT 1 FROM category c WHERE c.category = @category AND c.product = id))
        ORDER BY id LIMIT @limit)`,
    'p.id'
  )
  // CAST, since better-sqlite3 binds a number as REAL, for which FTS5 reads its index from the start (fts5GetRowidLimit).
  const matching = prepare(
    `product_text t CROSS JOIN product p ON p.seq = t.rowid
      WHERE t.product_text MATCH @match AND t.rowid > CAST(@after AS INTEGER) AND p.modified_at >= @since`,
    't.rowid'
  )
  const countChanged = db
    .prepare<[number, number], number>(
      'SELECT count(*) FROM (SELECT 1 FROM product INDEXED BY product_modified WHERE deleted = 0 AND modified_at >= ? LIMIT ?)'
    )
    .pluck()

  function byId({ category, updatedSince }: ProductQuery) {
    if (updatedSince !== undefined && (countChanged.get(updatedSince, maxSorted) ?? 0) < maxSorted) return changed
    return category === undefined ? all : ofCategory
  }

  return (query) => {
    const { limit, after, q, category, updatedSince } = query
    const match = q === undefined ? undefined : matchExpression(q, category)
    const statement = match === undefined ? byId(query) : matching
    const start = match === undefined ? (after ?? '') : after === undefined ? 0 : position(after)
    const rows = statement.all({ limit: limit + 1, after: start, category, since: updatedSince ?? 0, match })
    return toPage(
      rows,
      limit,
      (row) => toProduct(row, currency),
      (row) => (match === undefined ? row.id : String(row.seq))
    )
  }
}
