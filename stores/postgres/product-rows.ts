/** Writes the changes of a batch of product writes. Every statement is sent without waiting for the one before. */

import type { Product } from '../../domain/product.ts'
import type { CatalogueChange, CatalogueEntry } from '../../domain/product-writes.ts'
import { columnsOf } from '../rows.ts'
import type { Queries } from './database.ts'
import { wordsOf } from './words.ts'

/** A product and its stock, locked. */
export type LockedEntry = CatalogueEntry & { readonly seq: number }

/** A change with the number of the product's row: undefined before it is inserted. */
type NumberedChange = CatalogueChange & { readonly seq: number | undefined }

/** @param before the products before the batch, by id */
export function writeChanges(queries: Queries, before: ReadonlyMap<string, LockedEntry>, changes: readonly CatalogueChange[]): void {
  const numbered = changes.map((change): NumberedChange => ({ ...change, seq: before.get(change.product.id)?.seq }))
  const existing = numbered.filter(({ seq }) => seq !== undefined)
  release(queries, before, numbered)
  update(
    queries,
    existing.filter(({ changed }) => changed.product)
  )
  setStock(
    queries,
    existing.filter(({ changed }) => changed.stock)
  )
  insert(
    queries,
    numbered.filter(({ seq }) => seq === undefined)
  )
  categorise(queries, before, changes)
}

/** Frees GTINs that move to another product, because a unique index is checked after every row of a statement. */
function release({ query }: Queries, before: ReadonlyMap<string, LockedEntry>, changes: readonly NumberedChange[]): void {
  const moves = changes
    .map(({ seq, product }) => ({ seq, from: before.get(product.id)?.product.gtin, to: product.gtin }))
    .filter(({ from, to }) => from !== to)
  const taken = new Set(moves.map(({ to }) => to))
  const given = moves.filter(({ from }) => from !== undefined && taken.has(from))
  if (given.length > 0) void query('UPDATE product SET gtin = NULL WHERE seq = ANY($1)', [given.map(({ seq }) => seq)])
}

/** Changes as rows. Unlike `unnest`, `json_to_recordset` keeps an array in a row. */
const rows = `json_to_recordset($1) AS n (seq bigint, id text, version bigint, name text, description text, price text, unit text,
  minimum_quantity text, quantity_step text, gtin text, categories text[], images text[], backorder boolean, availability text, modified_at bigint, deleted boolean, words text,
  stock_version bigint, on_hand numeric, stock_modified_at bigint)`

function values(changes: readonly NumberedChange[]): unknown[] {
  const rows = changes.map(({ seq, product, stock, deleted }) => ({
    ...columnsOf(product),
    seq,
    categories: product.categories,
    images: product.images,
    backorder: product.backorder,
    deleted,
    words: deleted ? '' : wordsOf(product),
    stock_version: stock.version,
    on_hand: stock.onHand,
    stock_modified_at: stock.modifiedAt
  }))
  return [JSON.stringify(rows)]
}

function update({ query }: Queries, changes: readonly NumberedChange[]): void {
  if (changes.length === 0) return
  void query(
    `UPDATE product p SET version = n.version, name = n.name, description = n.description, price = n.price, unit = n.unit,
      minimum_quantity = n.minimum_quantity, quantity_step = n.quantity_step, gtin = n.gtin,
      categories = n.categories, images = n.images, backorder = n.backorder, availability = n.availability, modified_at = n.modified_at,
      deleted = n.deleted, words = n.words::tsvector
      FROM ${rows} WHERE p.seq = n.seq`,
    values(changes)
  )
}

function insert({ query }: Queries, changes: readonly NumberedChange[]): void {
  if (changes.length === 0) return
  void query(
    `WITH numbered AS MATERIALIZED (SELECT nextval(pg_get_serial_sequence('product', 'seq')) AS number, n.* FROM ${rows}),
      added AS (
        INSERT INTO product (seq, id, version, name, description, price, unit, minimum_quantity, quantity_step, gtin, categories, images, backorder, availability,
          modified_at, deleted, words)
        SELECT number, id, version, name, description, price, unit, minimum_quantity, quantity_step, gtin, categories, images, backorder, availability, modified_at, deleted,
          words::tsvector FROM numbered
      )
      INSERT INTO stock (product, version, on_hand, modified_at) SELECT number, stock_version, on_hand, stock_modified_at FROM numbered`,
    values(changes)
  )
}

export function setStock({ query }: Queries, changes: readonly Pick<NumberedChange, 'seq' | 'stock'>[]): void {
  if (changes.length === 0) return
  void query(
    `UPDATE stock s SET version = n.version, on_hand = n.on_hand, modified_at = n.modified_at
      FROM unnest($1::bigint[], $2::bigint[], $3::numeric[], $4::bigint[]) AS n (product, version, on_hand, modified_at)
      WHERE s.product = n.product`,
    [
      changes.map(({ seq }) => seq),
      changes.map(({ stock }) => stock.version),
      changes.map(({ stock }) => stock.onHand),
      changes.map(({ stock }) => stock.modifiedAt)
    ]
  )
}

function categorise({ query }: Queries, before: ReadonlyMap<string, LockedEntry>, changes: readonly CatalogueChange[]): void {
  const had = (id: string) => before.get(id)?.product.categories ?? []
  const moved = changes.map(({ product }) => product).filter(({ id, categories }) => JSON.stringify(had(id)) !== JSON.stringify(categories))
  const left = pairs(moved.map(({ id }) => ({ id, categories: had(id) })))
  const entered = pairs(moved)
  const rows = 'unnest($1::text[], $2::text[]) AS n (category, id)'
  if (left[0].length > 0) void query(`DELETE FROM product_category c USING ${rows} WHERE c.category = n.category AND c.id = n.id`, left)
  if (entered[0].length > 0) void query(`INSERT INTO product_category (category, id) SELECT n.category, n.id FROM ${rows}`, entered)
}

/** Categories and the ids of their products, as two arrays of the same length. */
function pairs(products: readonly Pick<Product, 'id' | 'categories'>[]): [string[], string[]] {
  const all = products.flatMap(({ id, categories }) => [...new Set(categories)].map((category) => ({ id, category })))
  return [all.map(({ category }) => category), all.map(({ id }) => id)]
}
