import { plain } from '../../domain/money.ts'
import { gtinsAmong, type ProductName, requireActive } from '../../domain/product.ts'
import { mostWeight, rowShare } from '../../domain/product-list.ts'
import { type CatalogueChange, importOutcome, type ProductWrite } from '../../domain/product-writes.ts'
import type { Revision, StockedProduct, Store } from '../../domain/store.ts'
import { Batcher, resultOf } from '../batcher.ts'
import { type Command, commandSize, senderOf } from '../commands.ts'
import { requiredRow } from '../required-row.ts'
import { type OptionRow, optionColumns, optionOf, productColumns } from '../rows.ts'
import type { Database } from './database.ts'
import { tookTooLong } from './failures.ts'
import { type ListedRow, listedColumns, withinWeight } from './product-list.ts'
import { productPage } from './product-pages.ts'
import { makeProductWrites } from './product-writes.ts'
import { retrying } from './retrying.ts'
import { gtin14Column, type ProductRow, type StockRow, stockColumns, toProduct, toStock } from './rows.ts'

type ProductVerb =
  | 'product'
  | 'products'
  | 'productsCoded'
  | 'productNames'
  | 'mainCategories'
  | 'revision'
  | 'createProduct'
  | 'putProduct'
  | 'deleteProduct'
  | 'importProducts'
  | 'allProducts'
  | 'stock'
  | 'putStock'
  | 'isEmpty'

type ProductCommand = Command<'createProduct'> | Command<'putProduct'> | Command<'deleteProduct'> | Command<'putStock'>

/** The most products that `allProducts` reads at once. */
const batchSize = 100

/** Each step looks up the next category in the index, so the time depends on the number of categories, not of products. */
const stepsOfMainCategories = `
  WITH RECURSIVE step (main) AS (
    SELECT ''::text COLLATE "C" UNION ALL
    SELECT (SELECT p.categories[1] COLLATE "C" FROM product p
      WHERE NOT p.deleted AND p.categories[1] COLLATE "C" > step.main ORDER BY p.categories[1] COLLATE "C" LIMIT 1)
    FROM step WHERE step.main IS NOT NULL)
  SELECT main FROM step WHERE main > '' LIMIT $1`

/**
 * A product that has both codes comes once. `OR` or `NOT deleted` would let PostgreSQL read all products of a table that it has no
 * statistics of.
 */
export const codedSql = `SELECT ${optionColumns}, deleted FROM product WHERE id = ANY($1)
  UNION SELECT ${optionColumns}, deleted FROM product WHERE ${gtin14Column} = ANY($2)`

/** The verbs of the catalogue. `drain` refuses new writes, and resolves when the waiting ones are done. */
export function makeProducts(database: Database, currency: string): Pick<Store, ProductVerb> & { drain(): Promise<void> } {
  // Batches of single writes run one at a time: in parallel, those that change products would wait for each other at the catalogue's
  // revision.
  const write = makeProductWrites(database, currency)
  const run = (batch: readonly ProductWrite[], mode?: 'dry-run') => retrying(() => write(batch, mode))
  const writes = new Batcher<ProductCommand, CatalogueChange>({
    run: (batch) => run(batch.map(writeOf)),
    weight: commandSize,
    senderOf,
    parallel: 1,
    isOfAll: tookTooLong
  })

  return {
    async product(id) {
      const [row] = await database.prepared<ProductRow>(`SELECT ${productColumns} FROM product p WHERE p.id = $1`, [id])
      return toProduct(requireActive(id, row), currency)
    },
    products: (query) => productPage(database, currency, query),
    async productsCoded(codes) {
      const rows = await database.query<OptionRow & Pick<ProductRow, 'deleted'>>(codedSql, [codes, gtinsAmong(codes)])
      return rows.filter(({ deleted }) => !deleted).map(optionOf)
    },
    productNames: (limit) => database.query<ProductName>('SELECT id, name FROM product WHERE NOT deleted ORDER BY id LIMIT $1', [limit]),
    async mainCategories(limit) {
      const rows = await database.prepared<{ main: string }>(stepsOfMainCategories, [limit])
      return rows.map(({ main }) => main)
    },
    async revision() {
      const [row] = await database.prepared<Revision & Record<string, unknown>>(
        'SELECT revision, modified_at AS "modifiedAt" FROM catalogue',
        []
      )
      return requiredRow(row)
    },
    createProduct: async (...args) => (await writes.submit({ verb: 'createProduct', args })).product,
    async putProduct(...args) {
      const { product, created } = await writes.submit({ verb: 'putProduct', args })
      return { product, created }
    },
    async deleteProduct(...args) {
      await writes.submit({ verb: 'deleteProduct', args })
    },
    async importProducts(batch, mode) {
      if (batch.length === 0) return []
      const outcomes = await run(
        batch.map(({ id, draft }) => ({ verb: 'import', id, draft })),
        mode
      )
      return outcomes.map((outcome) => importOutcome(() => resultOf(outcome)))
    },
    async *allProducts() {
      const sql = `SELECT ${listedColumns(rowShare(mostWeight.batch, batchSize))}, ${stockColumns} FROM product p
        JOIN stock s ON s.product = p.seq WHERE NOT p.deleted AND p.id > $1 ORDER BY p.id LIMIT $2`
      for (let after = ''; ; ) {
        const found = await database.query<ListedRow<ProductRow & StockRow>>(sql, [after, batchSize])
        const { rows, last = found.at(-1) } = await withinWeight(database, found, mostWeight.batch)
        if (!last) return
        after = last.id
        if (rows.length > 0) yield rows.map((row): StockedProduct => ({ ...toProduct(row, currency), onHand: plain(row.on_hand) }))
      }
    },
    async stock(productId) {
      const sql = `SELECT p.deleted, ${stockColumns} FROM product p JOIN stock s ON s.product = p.seq WHERE p.id = $1`
      const [row] = await database.query<StockRow & { deleted: boolean }>(sql, [productId])
      return toStock(productId, requireActive(productId, row))
    },
    putStock: async (...args) => (await writes.submit({ verb: 'putStock', args })).stock,
    async isEmpty() {
      const [row] = await database.query<{ empty: boolean }>('SELECT NOT EXISTS (SELECT FROM product) AS empty')
      return row?.empty === true
    },
    drain: () => writes.close()
  }
}

function writeOf({ verb, args }: ProductCommand): ProductWrite {
  switch (verb) {
    case 'createProduct':
      return { verb: 'create', id: args[0], draft: args[1] }
    case 'putProduct':
      return { verb: 'put', id: args[0], draft: args[1], expected: args[2] }
    case 'deleteProduct':
      return { verb: 'delete', id: args[0], expected: args[1] }
    case 'putStock':
      return { verb: 'setStock', id: args[0], onHand: args[1], expected: args[2] }
  }
}
