import type { Product } from '../../domain/product.ts'
import { makeFits } from '../../domain/product-list.ts'
import { productColumns } from '../rows.ts'
import type { Connection } from './connection.ts'
import { type ProductRow, toProduct } from './rows.ts'

/** A row of a list. For a large product it has only the row number, and the other columns are null. */
export type ListedRow = ProductRow | { readonly seq: number; readonly id: null }

export const listedColumns = productColumns.replace('p.seq', 'k.seq')

/**
 * Joins the products of a list, `k`, with their columns if their texts have up to `@share` bytes. SQLite knows these lengths
 * without reading the texts. To read a later column, it would have to read all pages of a large row.
 */
export const smallProducts = `LEFT JOIN product p ON p.seq = k.seq
  AND coalesce(octet_length(k.description), 0) + octet_length(k.categories) + octet_length(k.images) <= @share`

/**
 * Reads the products of rows, as many as fit. Call it in the transaction that the rows were read in.
 * @param make gives the item of a product and its row
 */
export type WithinWeight = <Row extends ListedRow, T>(rows: readonly Row[], most: number, make: (product: Product, row: Row) => T) => T[]

export function makeWithinWeight(db: Connection, currency: string): WithinWeight {
  const large = db.prepare<[number], ProductRow>(`SELECT ${productColumns} FROM product p WHERE p.seq = ?`)
  return (rows, most, make) => {
    const fits = makeFits(most)
    const items = []
    for (const row of rows) {
      const whole = row.id === null ? large.get(row.seq) : (row as ProductRow)
      const product = whole && toProduct(whole, currency)
      if (!product || !fits(product)) break
      items.push(make(product, row))
    }
    return items
  }
}
