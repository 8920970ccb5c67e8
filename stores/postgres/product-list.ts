/** Reads the products of a list, as many as fit. */

import { makeFits } from '../../domain/product-list.ts'
import { productColumns } from '../rows.ts'
import type { Database } from './database.ts'
import { type ProductRow, stockColumns } from './rows.ts'

/** A row of a list. Its arrays are JSON, which is parsed many times faster than PostgreSQL's notation; null if the product is large. */
export type ListedRow<Row extends ProductRow = ProductRow> = Omit<Row, 'categories' | 'images'> & {
  readonly seq: number
  readonly id: string
  readonly deleted: boolean
  readonly categories: string | null
  readonly images: string | null
}

/** The number of large products that are read at once. It bounds the memory, because the size of a compressed array is known only after it is read. */
const largeAtOnce = 8

const columns = productColumns.replace(/p\.(categories|images)\b/g, 'to_json(p.$1) AS $1')

/**
 * The columns of a row of a list. PostgreSQL knows the lengths that it compares without reading the texts. It compresses the
 * arrays of large rows only.
 * @param share the most bytes of the texts that come with the row
 */
export function listedColumns(share: number): string {
  const bytes = 'coalesce(octet_length(p.description), 0) + pg_column_size(p.categories) + pg_column_size(p.images)'
  const isSmall = `coalesce(pg_column_compression(p.categories), pg_column_compression(p.images)) IS NULL AND ${bytes} <= ${share}`
  return columns
    .replace('p.description', `CASE WHEN ${isSmall} THEN p.description END AS description`)
    .replace(/to_json\(p\.\w+\)/g, (array) => `CASE WHEN ${isSmall} THEN ${array} END`)
}

const large = `SELECT ${columns}, ${stockColumns} FROM product p JOIN stock s ON s.product = p.seq WHERE p.seq = ANY($1::bigint[])`

/**
 * @returns the whole rows that fit, without products deleted meanwhile, and in `last` the last row read if the list ended early
 */
export async function withinWeight<Row extends ProductRow>(
  database: Database,
  listed: readonly ListedRow<Row>[],
  most: number
): Promise<{ rows: Row[]; last?: ListedRow<Row> | undefined }> {
  const fits = makeFits(most)
  const rows: Row[] = []
  const read = new Map<number, ListedRow<Row>>()
  for (const [i, row] of listed.entries()) {
    if (isLarge(row) && !read.has(row.seq)) {
      const next = listed.slice(i).filter(isLarge).slice(0, largeAtOnce)
      for (const found of await database.query<ListedRow<Row>>(large, [next.map(({ seq }) => seq)])) read.set(found.seq, found)
    }
    const found = isLarge(row) ? read.get(row.seq) : row
    const whole = found && !found.deleted && wholeOf(found)
    if (!whole) continue
    if (!fits(whole)) return { rows, last: listed[i - 1] }
    rows.push(whole)
  }
  return { rows }
}

function isLarge(row: ListedRow): boolean {
  return row.categories === null
}

function wholeOf<Row extends ProductRow>(row: ListedRow<Row>): Row {
  return { ...row, categories: JSON.parse(row.categories ?? '[]'), images: JSON.parse(row.images ?? '[]') } as unknown as Row
}
