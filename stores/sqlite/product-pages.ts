import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import { mostWeight, rowShare } from '../../domain/product-list.ts'
import type { ProductQuery } from '../../domain/store.ts'
import { position } from '../paging.ts'
import type { Connection } from './connection.ts'
import { type ListedRow, listedColumns, makeWithinWeight, smallProducts } from './product-rows.ts'
import { makeLongerWords, matchExpression } from './search.ts'

/** Up to this many changed products are found by time and then sorted. If there are more, a scan by id finds enough of them. */
const maxSorted = 10_000

interface Bound {
  readonly after: string | number
  readonly limit: number
  readonly share: number
  readonly category: string | undefined
  readonly since: number | undefined
  readonly match: string | undefined
}

/** Reads pages of products by keyset: by id, or by row number for a text search. Each query follows an index in the page's order. */
export function makeProductPages(db: Connection, currency: string): (query: ProductQuery) => Page<Product> {
  const withinWeight = makeWithinWeight(db, currency)
  const longerWords = makeLongerWords(db)
  const prepare = (from: string, where: string, order: string) =>
    db.prepare<[Bound], ListedRow>(`SELECT ${listedColumns} FROM ${from} ${smallProducts} WHERE ${where} ORDER BY ${order} LIMIT @limit`)
  // `modified_at` comes after the texts in a row, so it is read only for a filter by time.
  const isSince = '(@since IS NULL OR k.modified_at >= @since)'
  const all = prepare('product k INDEXED BY product_live', `k.deleted = 0 AND k.id > @after AND ${isSince}`, 'k.id')
  const ofCategory = prepare(
    'category c CROSS JOIN product k ON k.id = c.product',
    `c.category = @category AND c.product > @after AND ${isSince}`,
    'c.product'
  )
  const changed = prepare(
    'product k',
    `k.id IN (
      SELECT id FROM product INDEXED BY product_modified WHERE deleted = 0 AND modified_at >= @since AND id > @after
        AND (@category IS NULL OR EXISTS (SELECT 1 FROM category c WHERE c.category = @category AND c.product = id))
        ORDER BY id LIMIT @limit)`,
    'k.id'
  )
  // CAST, since better-sqlite3 binds a number as REAL, for which FTS5 reads its index from the start (fts5GetRowidLimit).
  const matching = prepare(
    'product_text t CROSS JOIN product k ON k.seq = t.rowid',
    `t.product_text MATCH @match AND t.rowid > CAST(@after AS INTEGER) AND ${isSince}`,
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

  return db.transaction((query: ProductQuery): Page<Product> => {
    const { limit, after, q, category, updatedSince: since } = query
    const match = q === undefined ? undefined : matchExpression(q, category, longerWords)
    const statement = match === undefined ? byId(query) : matching
    const start = match === undefined ? (after ?? '') : after === undefined ? 0 : position(after)
    const share = rowShare(mostWeight.page, limit + 1)
    const rows = statement.all({ limit: limit + 1, share, after: start, category, since, match })
    const items = withinWeight(rows.slice(0, limit), mostWeight.page, (product) => product)
    const last = items.length < rows.length ? items.length - 1 : -1
    const next = match === undefined ? items[last]?.id : rows[last]?.seq.toString()
    return next === undefined ? { items } : { items, next }
  })
}
