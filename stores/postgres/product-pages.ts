import { PositionError } from '../../domain/errors.ts'
import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import { mostWeight, rowShare } from '../../domain/product-list.ts'
import type { ProductQuery } from '../../domain/store.ts'
import { position } from '../paging.ts'
import type { Database, Statement } from './database.ts'
import { type ListedRow, listedColumns, withinWeight } from './product-list.ts'
import { toProduct } from './rows.ts'
import { searchFor } from './words.ts'

/** Up to this many changed products are found by time and then sorted. If there are more, a scan in the page's order finds enough. */
const maxSorted = 20_000

/**
 * A search covers this many row numbers first: there any plan is fast, and a word that is not rare fills the page. Only then
 * does it cover the rows after them. Otherwise the planner would scan the primary key for a word that it considers common,
 * and would read the whole table if the word is not where the planner expects it.
 */
const window = 50_000

interface Bound {
  /** An id, or a row number for a text search. */
  readonly after: string | number
  readonly limit: number
  readonly search: string | undefined
  readonly category: string | undefined
  readonly since: number | undefined
}

/** Reads a page of products by keyset: by id, or by row number for a text search. Each query follows an index in the page's order. */
export async function productPage(database: Database, currency: string, query: ProductQuery): Promise<Page<Product>> {
  const { limit, after, q, category, updatedSince } = query
  const since = updatedSince === undefined ? undefined : Math.min(Math.ceil(updatedSince), Number.MAX_SAFE_INTEGER)
  // No stored text has a NUL, and PostgreSQL accepts none.
  if (category?.includes('\0')) return { items: [] }
  if (after?.includes('\0')) throw new PositionError('not a position: it has a NUL')
  const search = q === undefined ? undefined : searchFor(q, category)
  const start = search === undefined ? (after ?? '') : position(after ?? '0')
  const found = await read(database, { after: start, limit: limit + 1, search, category, since })
  const { rows, last = found.length > limit ? found[limit - 1] : undefined } = await withinWeight(
    database,
    found.slice(0, limit),
    mostWeight.page
  )
  const items = rows.map((row) => toProduct(row, currency))
  return { items, ...(last ? { next: search === undefined ? last.id : String(last.seq) } : {}) }
}

async function read(database: Database, bound: Bound): Promise<ListedRow[]> {
  const run = ({ text, values }: Statement) => database.query<ListedRow>(text, values)
  if (bound.since !== undefined && (await countChanged(database, bound.since)) < maxSorted) return run(changed(bound, bound.since))
  if (bound.search === undefined) return run(byId(bound))
  const near = await run(nearby(bound, bound.search))
  if (near.length === bound.limit) return near
  const behind = { ...bound, after: Number(bound.after) + window, limit: bound.limit - near.length }
  return [...near, ...(await run(matching(behind, bound.search)))]
}

async function countChanged(database: Database, since: number): Promise<number> {
  const changed = 'SELECT FROM product WHERE NOT deleted AND modified_at >= $1 ORDER BY modified_at LIMIT $2'
  const [row] = await database.query<{ count: number }>(`SELECT count(*) AS count FROM (${changed}) c`, [since, maxSorted])
  return row?.count ?? 0
}

/** The columns of a product in a statement that reads up to `limit` of them. */
const columnsFor = (limit: number) => listedColumns(rowShare(mostWeight.page, limit))

/**
 * A page of a category looks up each of its products. The limit of one sees to that: without it, the planner may merge the category with
 * all products by id, from the first one on. Only a filter by time may need that, because it can look at the whole category for a page.
 */
function byId({ after, limit, category, since }: Bound): Statement {
  const values: unknown[] = [after, limit]
  const columns = columnsFor(limit)
  const changed = since === undefined ? '' : `AND p.modified_at >= $${values.push(since)}`
  const products =
    since === undefined
      ? 'CROSS JOIN LATERAL (SELECT * FROM product WHERE product.id = c.id LIMIT 1) p'
      : 'JOIN product p ON p.id = c.id AND p.id > $1'
  const text =
    category === undefined
      ? `SELECT ${columns} FROM product p WHERE NOT p.deleted AND p.id > $1 ${changed} ORDER BY p.id LIMIT $2`
      : `SELECT ${columns} FROM product_category c ${products}
          WHERE c.category = $${values.push(category)} AND c.id > $1 ${changed} ORDER BY c.id LIMIT $2`
  return { text, values }
}

function nearby({ after, limit, since }: Bound, search: string): Statement {
  const values: unknown[] = [after, limit, search, window]
  const changed = since === undefined ? '' : `AND p.modified_at >= $${values.push(since)}`
  const text = `SELECT ${columnsFor(limit)} FROM product p
    WHERE p.words @@ $3::tsquery AND p.seq > $1::bigint AND p.seq <= $1::bigint + $4::bigint ${changed} ORDER BY p.seq LIMIT $2`
  return { text, values }
}

function matching({ after, limit, since }: Bound, search: string): Statement {
  const values: unknown[] = [after, limit, search]
  const filters = ['p.seq > $1', 'p.words @@ $3::tsquery']
  if (since !== undefined) filters.push(`p.modified_at >= $${values.push(since)}`)
  return { text: sorted('seq', filters, limit), values }
}

/** The query for products that changed since a time. */
function changed({ after, limit, search, category }: Bound, since: number): Statement {
  const key = search === undefined ? 'id' : 'seq'
  const values: unknown[] = [after, limit, since]
  const filters = [`p.${key} > $1`, 'NOT p.deleted', 'p.modified_at >= $3']
  if (search !== undefined) filters.push(`p.words @@ $${values.push(search)}::tsquery`)
  else if (category !== undefined) filters.push(`$${values.push(category)} = ANY(p.categories)`)
  return { text: sorted(key, filters, limit), values }
}

/** MATERIALIZED makes PostgreSQL find the rows first and then sort them, instead of following an index in the page's order. */
function sorted(key: 'id' | 'seq', filters: readonly string[], limit: number): string {
  return `WITH found AS MATERIALIZED (SELECT p.seq, p.id FROM product p WHERE ${filters.join(' AND ')})
    SELECT ${columnsFor(limit)} FROM (SELECT seq FROM found ORDER BY ${key} LIMIT $2) f JOIN product p ON p.seq = f.seq ORDER BY p.${key}`
}
