/** Writes what a batch of product writes has come to. Every statement is sent, and none waited for. */

import type { Queries } from './database.ts'
import type { Change, Item } from './product-changes.ts'
import { wordsOf } from './words.ts'

/** @param before the products as they were, by id */
export function writeChanges(queries: Queries, before: ReadonlyMap<string, Item>, changes: readonly Change[]): void {
  const there = changes.filter(({ seq }) => seq !== undefined)
  release(queries, before, changes)
  update(
    queries,
    there.filter(({ changed }) => changed.product)
  )
  count(
    queries,
    there.filter(({ changed }) => changed.stock)
  )
  insert(
    queries,
    changes.filter(({ seq }) => seq === undefined)
  )
  categorise(queries, before, changes)
}

/** A GTIN goes from one product to another in two steps: an index is unique after every row of a statement. */
function release({ query }: Queries, before: ReadonlyMap<string, Item>, changes: readonly Change[]): void {
  const had = ({ id }: Change) => before.get(id)?.gtin ?? null
  const taken = new Set(changes.flatMap((change) => (change.gtin === had(change) ? [] : (change.gtin ?? []))))
  const given = changes.filter((change) => change.gtin !== had(change) && taken.has(had(change) ?? ''))
  if (given.length > 0) void query('UPDATE product SET gtin = NULL WHERE seq = ANY($1)', [given.map(({ seq }) => seq)])
}

/** Changes as rows. Unlike `unnest`, `json_to_recordset` leaves an array in a row whole. */
const rows = `json_to_recordset($1) AS n (seq bigint, id text, version bigint, name text, description text, price text, unit text,
  minimum_quantity text, quantity_step text, gtin text, categories text[], images text[], backorder boolean, availability text, modified_at bigint, deleted boolean, words text,
  stock_version bigint, on_hand numeric, stock_modified_at bigint)`

function values(changes: readonly Change[]): unknown[] {
  return [JSON.stringify(changes.map((change) => ({ ...change, words: change.deleted ? '' : wordsOf(change) })))]
}

function update({ query }: Queries, changes: readonly Change[]): void {
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

function insert({ query }: Queries, changes: readonly Change[]): void {
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

function count({ query }: Queries, changes: readonly Change[]): void {
  if (changes.length === 0) return
  void query(
    `UPDATE stock s SET version = n.version, on_hand = n.on_hand, modified_at = n.modified_at
      FROM unnest($1::bigint[], $2::bigint[], $3::numeric[], $4::bigint[]) AS n (product, version, on_hand, modified_at)
      WHERE s.product = n.product`,
    [
      changes.map(({ seq }) => seq),
      changes.map(({ stock_version }) => stock_version),
      changes.map(({ on_hand }) => on_hand),
      changes.map(({ stock_modified_at }) => stock_modified_at)
    ]
  )
}

function categorise({ query }: Queries, before: ReadonlyMap<string, Item>, changes: readonly Change[]): void {
  const moved = changes.filter(({ id, categories }) => JSON.stringify(before.get(id)?.categories ?? []) !== JSON.stringify(categories))
  const left = columns(moved.map(({ id }) => ({ id, categories: before.get(id)?.categories ?? [] })))
  const entered = columns(moved)
  const pairs = 'unnest($1::text[], $2::text[]) AS n (category, id)'
  if (left[0].length > 0) void query(`DELETE FROM product_category c USING ${pairs} WHERE c.category = n.category AND c.id = n.id`, left)
  if (entered[0].length > 0) void query(`INSERT INTO product_category (category, id) SELECT n.category, n.id FROM ${pairs}`, entered)
}

/** Categories and the ids of the products that are in them, pair by pair. */
function columns(products: readonly Pick<Item, 'id' | 'categories'>[]): [string[], string[]] {
  const pairs = products.flatMap(({ id, categories }) => [...new Set(categories)].map((category) => ({ id, category })))
  return [pairs.map(({ category }) => category), pairs.map(({ id }) => id)]
}
