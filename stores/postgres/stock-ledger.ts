/**
 * The stock of a transaction's products: locked, changed in memory and written back at its end.
 *
 * Every transaction takes its locks in the same order, so that transactions never deadlock: first the rows of orders, then
 * rows of `stock` in the order of their products' row numbers, then the one row of `catalogue`, then the rows that it writes.
 */

import { productChanged } from '../../domain/event.ts'
import { type Inventory, newAvailability, type StockItem } from '../../domain/inventory.ts'
import { type Decimal, plain, subtract } from '../../domain/money.ts'
import type { ProductReference } from '../../domain/order.ts'
import { type CommonStockItemRow, quantitiesOf } from '../rows.ts'
import type { Queries } from './database.ts'
import type { EventLog } from './event-log.ts'
import { Moved } from './failures.ts'
import { now } from './rows.ts'

interface StockItemRow extends CommonStockItemRow {
  readonly backorder: boolean
  readonly deleted: boolean
  readonly version: number
  readonly on_hand: Decimal
}

/** Raises the catalogue's revision and returns the time of the change. The time never goes back. */
export async function revise({ query }: Queries): Promise<number> {
  const [row] = await query<{ modified_at: number }>(
    `UPDATE catalogue SET revision = revision + 1, modified_at = greatest(modified_at, ${now}) RETURNING modified_at`
  )
  if (!row) throw new Error('the catalogue has no revision row')
  return row.modified_at
}

/**
 * Locks the stock of products, by id or GTIN, and reads it. Both statements are sent at once. The second sees everything
 * that was committed while the first waited, because the transaction is READ COMMITTED.
 */
export async function lockStock({ query }: Queries, products: Iterable<ProductReference>): Promise<StockLedger> {
  const [ids, gtins] = [new Set<string>(), new Set<string>()]
  for (const product of products) {
    if ('gtin' in product) gtins.add(product.gtin)
    else ids.add(product.productId)
  }
  if (ids.size + gtins.size === 0) return new StockLedger([])
  const [wanted, values] =
    gtins.size === 0 ? ['p.id = ANY($1)', [[...ids]]] : ['(p.id = ANY($1) OR p.gtin = ANY($2))', [[...ids], [...gtins]]]
  const locked = query<{ product: number }>(
    `SELECT s.product FROM stock s WHERE s.product IN (SELECT p.seq FROM product p WHERE ${wanted}) ORDER BY s.product FOR UPDATE`,
    values
  )
  const read = query<StockItemRow>(
    `SELECT p.seq, p.id, p.version, p.name, p.price, p.unit, p.minimum_quantity, p.quantity_step, p.gtin, p.backorder, p.availability, p.deleted, s.on_hand
      FROM product p JOIN stock s ON s.product = p.seq WHERE ${wanted}`,
    values
  )
  const lockedRows = new Set((await locked).map(({ product }) => product))
  const rows = await read
  if (rows.some(({ seq }) => !lockedRows.has(seq))) throw new Moved('a product was added, or its GTIN has changed')
  return new StockLedger(rows)
}

/** A stock item: its locked row, and its current state in memory. */
interface Counted {
  readonly row: StockItemRow
  readonly stockItem: StockItem & { onHand: Decimal }
}

export class StockLedger implements Inventory {
  readonly #byId = new Map<string, Counted>()
  readonly #byGtin = new Map<string, Counted>()

  constructor(rows: readonly StockItemRow[]) {
    for (const row of rows) {
      const counted = { row, stockItem: { ...row, ...quantitiesOf(row), onHand: row.on_hand } }
      this.#byId.set(row.id, counted)
      if (row.gtin !== null && !row.deleted) this.#byGtin.set(row.gtin, counted)
    }
  }

  byId(id: string): StockItem | undefined {
    return this.#byId.get(id)?.stockItem
  }

  byGtin(gtin: string): StockItem | undefined {
    return this.#byGtin.get(gtin)?.stockItem
  }

  /** Takes quantities from stock, in memory. A negative quantity is returned to stock. */
  take(taken: ReadonlyMap<string, Decimal>): void {
    for (const [id, quantity] of taken) {
      const stockItem = this.#byId.get(id)?.stockItem
      if (stockItem) stockItem.onHand = plain(subtract(stockItem.onHand, quantity))
    }
  }

  /** Writes the changed stock and availability. Does not wait for the last statements. */
  async write(queries: Queries, events: EventLog): Promise<void> {
    const changed = [...this.#byId.values()]
      .map(({ row, stockItem }) => ({
        ...row,
        before: plain(row.on_hand),
        onHand: plain(stockItem.onHand),
        newAvailability: newAvailability(row, stockItem.onHand)
      }))
      .filter(({ before, onHand }) => before !== onHand)
    if (changed.length === 0) return
    const flipped = changed.filter(({ newAvailability }) => newAvailability !== undefined)
    if (flipped.length > 0) {
      const at = await revise(queries)
      events.add(flipped.map(({ id, version }) => productChanged(id, version + 1, at)))
      void queries.query(
        `UPDATE product p SET availability = n.availability, version = p.version + 1, modified_at = $3
          FROM unnest($1::bigint[], $2::text[]) AS n (seq, availability) WHERE p.seq = n.seq`,
        [flipped.map(({ seq }) => seq), flipped.map(({ newAvailability }) => newAvailability), at]
      )
    }
    void queries.query(
      `UPDATE stock s SET on_hand = n.on_hand, version = s.version + 1, modified_at = greatest(s.modified_at, ${now})
        FROM unnest($1::bigint[], $2::numeric[]) AS n (product, on_hand) WHERE s.product = n.product`,
      [changed.map(({ seq }) => seq), changed.map(({ onHand }) => onHand)]
    )
  }
}
