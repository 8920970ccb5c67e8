/**
 * The stock of a transaction's products: locked, changed in memory and written back at its end.
 *
 * Every transaction takes its locks in the same order, so that transactions never deadlock: first the advisory lock for GTINs, then
 * the rows of orders, then the advisory lock for orders of many products, then rows of `stock` in the order of their products' row
 * numbers, then the one row of `catalogue`, then the rows that it writes.
 */

import { productChanged } from '../../domain/event.ts'
import { decideStock, type Inventory, type LockedItem, type StockItem } from '../../domain/inventory.ts'
import type { Decimal } from '../../domain/money.ts'
import type { ProductReference } from '../../domain/order.ts'
import { gtin14, withGtin } from '../../domain/product.ts'
import { requiredRow } from '../required-row.ts'
import { type CommonStockItemRow, quantityRuleOf, stockItemColumns } from '../rows.ts'
import { minLarge } from '../sizes.ts'
import type { Queries } from './database.ts'
import type { EventLog } from './event-log.ts'
import { ConcurrentChange } from './failures.ts'
import { setStock } from './product-rows.ts'
import { gtin14Column, now, type StockRow, stockColumns, toStock } from './rows.ts'

interface StockItemRow extends CommonStockItemRow, StockRow {
  readonly backorder: boolean
  readonly deleted: boolean
  readonly version: number
}

/** The id of the advisory lock for orders of many products. It is arbitrary, but must be the same in every release. */
const manyProductsLock = 7_361_004

/** Raises the catalogue's revision and returns the time of the change. The time never goes back. */
export async function revise({ query }: Queries): Promise<number> {
  const [row] = await query<{ modified_at: number }>(
    `UPDATE catalogue SET revision = revision + 1, modified_at = greatest(modified_at, ${now}) RETURNING modified_at`
  )
  return requiredRow(row).modified_at
}

/** A product's id or its GTIN in 14 digits, as a line names it. */
function nameIn(product: ProductReference): string {
  return 'gtin' in product ? gtin14(product.gtin) : product.productId
}

/**
 * Waits for the turn of an order of many products, before `lockStock`. Call it with what one command needs: a batch of small orders need not
 * wait. Orders of many products lock their stock one after the other, on all replicas. Otherwise two of them would wait for each other's rows,
 * and whoever orders one of these products would wait for both. Beside three customers who place and cancel orders of 10,000 products, an order
 * of one line takes half as long as without these turns (bench/large-orders-postgres.ts).
 */
export async function waitForTurn({ query }: Queries, products: readonly ProductReference[]): Promise<void> {
  if (products.length < minLarge) return
  const distinct = new Set(products.map(nameIn))
  // The answer is awaited, because each statement has a time limit of its own from when it is sent.
  if (distinct.size >= minLarge) await query('SELECT pg_advisory_xact_lock($1)', [manyProductsLock])
}

/**
 * A transaction waits for stock that another one has locked; or it waits only so long that the other orders of its batch can wait, too; or
 * it leaves that stock out.
 */
export type Locking = 'wait' | 'wait-briefly' | 'skip'

/** Milliseconds of a brief wait. It is many times the wait for small orders of the same product, and less than an order of many products takes. */
const briefly = 200

/**
 * Locks the stock of products, by id or GTIN, and reads it. Both statements are sent at once. The second sees everything
 * that was committed while the first waited, because the transaction is READ COMMITTED.
 */
export async function lockStock({ query }: Queries, products: Iterable<ProductReference>, locking: Locking = 'wait'): Promise<StockLedger> {
  const [ids, gtins] = [new Set<string>(), new Set<string>()]
  for (const product of products) {
    if ('gtin' in product) gtins.add(gtin14(product.gtin))
    else ids.add(product.productId)
  }
  if (ids.size + gtins.size === 0) return new StockLedger([])
  const [wanted, values] =
    gtins.size === 0 ? ['p.id = ANY($1)', [[...ids]]] : [`(p.id = ANY($1) OR ${gtin14Column} = ANY($2))`, [[...ids], [...gtins]]]
  if (locking === 'wait-briefly') void query("SELECT set_config('lock_timeout', $1, true)", [String(briefly)])
  const locked = query<{ product: number }>(
    `SELECT s.product FROM stock s WHERE s.product IN (SELECT p.seq FROM product p WHERE ${wanted}) ORDER BY s.product
      FOR UPDATE ${locking === 'skip' ? 'SKIP LOCKED' : ''}`,
    values
  )
  const read = query<StockItemRow>(
    `SELECT ${stockItemColumns}, ${stockColumns} FROM product p JOIN stock s ON s.product = p.seq WHERE ${wanted} ORDER BY p.seq`,
    values
  )
  const lockedRows = new Set((await locked).map(({ product }) => product))
  const rows = await read
  const others = rows.filter(({ seq }) => !lockedRows.has(seq))
  if (others.length > 0 && locking !== 'skip') throw new ConcurrentChange('a product was added, or its GTIN has changed')
  return new StockLedger(
    rows.filter(({ seq }) => lockedRows.has(seq)),
    others
  )
}

/** A stock item as the commands of the batch have left it so far. */
interface LockedRow {
  readonly seq: number
  readonly gtin: string | null
  item: LockedItem
  isChanged: boolean
}

export class StockLedger implements Inventory {
  readonly #byId = new Map<string, LockedRow>()
  /** By the GTIN in 14 digits. */
  readonly #byGtin = new Map<string, LockedRow[]>()
  /** A product for each time that its availability changes, in that order. */
  readonly #availabilityChanges: { readonly seq: number; readonly item: LockedItem }[] = []
  /** The products that another transaction has locked, by id and by GTIN in 14 digits. */
  readonly #lockedElsewhere: ReadonlySet<string>

  /** @param elsewhere the products that another transaction has locked */
  constructor(rows: readonly StockItemRow[], elsewhere: readonly StockItemRow[] = []) {
    this.#lockedElsewhere = new Set(elsewhere.flatMap(({ id, gtin }) => (gtin === null ? [id] : [id, gtin14(gtin)])))
    for (const row of rows) {
      const stock = toStock(row.id, row)
      const locked = {
        seq: row.seq,
        gtin: row.gtin,
        item: { ...row, ...quantityRuleOf(row), onHand: stock.onHand, stock },
        isChanged: false
      }
      this.#byId.set(row.id, locked)
      if (row.gtin === null || row.deleted) continue
      const key = gtin14(row.gtin)
      this.#byGtin.set(key, [...(this.#byGtin.get(key) ?? []), locked])
    }
  }

  /** The number of changes of availability. Each becomes an event when they are written. */
  get events(): number {
    return this.#availabilityChanges.length
  }

  /** Whether another transaction has locked one of the products. */
  isLockedElsewhere(products: readonly ProductReference[]): boolean {
    return this.#lockedElsewhere.size > 0 && products.some((product) => this.#lockedElsewhere.has(nameIn(product)))
  }

  byId(id: string): StockItem | undefined {
    return this.#byId.get(id)?.item
  }

  byGtin(gtin: string): StockItem | undefined {
    return withGtin(this.#byGtin.get(gtin14(gtin)) ?? [], gtin)?.item
  }

  /**
   * Takes quantities from stock, in memory. A negative quantity is returned to stock.
   * @throws Error before anything is taken, if the stock of a product is not locked
   */
  take(taken: ReadonlyMap<string, Decimal>, now: number): void {
    const locked = [...taken].map(([id, quantity]) => {
      const row = this.#byId.get(id)
      if (!row) throw new Error(`the stock of ${id} is not locked`)
      return { row, quantity }
    })
    for (const { row, quantity } of locked) {
      const change = decideStock(row.item, quantity, now)
      if (!change) continue
      const { product, ...quantities } = change
      row.item = { ...row.item, ...quantities, ...product }
      row.isChanged = true
      if (product) this.#availabilityChanges.push({ seq: row.seq, item: row.item })
    }
  }

  /** Writes the changed stock and availability. Does not wait for the last statements. */
  async write(queries: Queries, events: EventLog): Promise<void> {
    if (this.#availabilityChanges.length > 0) {
      const at = await revise(queries)
      events.add(this.#availabilityChanges.map(({ item: { id, version } }) => productChanged(id, version, at)))
      const products = [...new Map(this.#availabilityChanges.map(({ seq, item }) => [seq, item]))]
      void queries.query(
        `UPDATE product p SET availability = n.availability, version = n.version, modified_at = $4
          FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS n (seq, availability, version) WHERE p.seq = n.seq`,
        [products.map(([seq]) => seq), products.map(([, item]) => item.availability), products.map(([, item]) => item.version), at]
      )
    }
    const changed = [...this.#byId.values()].filter(({ isChanged }) => isChanged)
    setStock(
      queries,
      changed.map(({ seq, item: { id: productId, onHand, stock } }) => ({ seq, stock: { ...stock, productId, onHand } }))
    )
  }
}
