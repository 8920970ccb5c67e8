import { productEvents } from '../../domain/event.ts'
import { gtin14 } from '../../domain/product.ts'
import { type CatalogueChange, type CatalogueEntry, decideProduct, type ProductWrite, withTimes } from '../../domain/product-writes.ts'
import { attempt, type Settled } from '../batcher.ts'
import { productColumns } from '../rows.ts'
import type { Database, Queries } from './database.ts'
import { EventLog } from './event-log.ts'
import { ConcurrentChange } from './failures.ts'
import { type LockedEntry, writeChanges } from './product-rows.ts'
import { gtin14Column, now, type ProductRow, type StockRow, stockColumns, toProduct, toStock } from './rows.ts'
import { revise } from './stock-ledger.ts'

/** The id of the advisory lock for GTINs. It is arbitrary, but must be the same in every release. */
const gtinLock = 7_361_003

/** @param mode `dry-run` writes nothing, and the changes keep the old times */
type ProductWriter = (writes: readonly ProductWrite[], mode?: 'dry-run') => Promise<Settled<CatalogueChange>[]>

/**
 * Writes a batch of products in one transaction: it locks their stock as an order does, decides each write in the order of
 * arrival, and writes all results at once. That takes three round trips.
 */
export function makeProductWrites(database: Database, currency: string): ProductWriter {
  return (writes, mode) =>
    database.transaction(async (queries) => {
      const gtins = newGtins(writes)
      const [, before, holders] = await Promise.all([
        lockGtins(queries, gtins),
        lockProducts(queries, currency, writes),
        readHolders(queries, gtins)
      ])
      const entries = new Map<string, CatalogueEntry>(before)
      const touched = new Map<string, CatalogueChange>()
      const catalogue = { currency, otherHolder: (gtin: string, id: string) => holders.other(gtin, id) }

      function decide(write: ProductWrite): CatalogueChange {
        const entry = entries.get(write.id)
        const change = decideProduct(write, entry, catalogue)
        holders.change(write.id, entry?.product.gtin, change.product.gtin)
        entries.set(write.id, change)
        const { product, stock } = touched.get(write.id)?.changed ?? change.changed
        touched.set(write.id, { ...change, changed: { product: product || change.changed.product, stock: stock || change.changed.stock } })
        return change
      }

      const outcomes = writes.map((write) => attempt(() => decide(write)))
      const changes = [...touched.values()].filter(({ changed }) => changed.product || changed.stock)
      if (changes.length === 0 || mode === 'dry-run') return outcomes
      const time = await stamp(
        queries,
        changes.some(({ changed }) => changed.product)
      )
      writeChanges(queries, before, changes.map(time))
      const timed = outcomes.map((outcome) => ('value' in outcome ? { value: time(outcome.value) } : outcome))
      const events = new EventLog()
      for (const outcome of timed) if ('value' in outcome) events.add(productEvents(outcome.value))
      events.write(queries)
      return timed
    })
}

/** Locks products by id. A product that does not exist cannot be locked, but the unique index on ids refuses a second one. */
async function lockProducts({ query }: Queries, currency: string, writes: readonly ProductWrite[]): Promise<Map<string, LockedEntry>> {
  const ids = [[...new Set(writes.map(({ id }) => id))]]
  const locked = query<{ product: number }>(
    'SELECT s.product FROM stock s WHERE s.product IN (SELECT p.seq FROM product p WHERE p.id = ANY($1)) ORDER BY s.product FOR UPDATE',
    ids
  )
  const read = query<ProductRow & StockRow>(
    `SELECT ${productColumns}, ${stockColumns} FROM product p JOIN stock s ON s.product = p.seq WHERE p.id = ANY($1)`,
    ids
  )
  const lockedRows = new Set((await locked).map(({ product }) => product))
  const rows = await read
  if (rows.some(({ seq }) => !lockedRows.has(seq))) throw new ConcurrentChange('a product was added')
  const entry = (row: ProductRow & StockRow): LockedEntry => {
    const { seq, id, deleted } = row
    return { seq, product: toProduct(row, currency), stock: toStock(id, row), deleted }
  }
  return new Map(rows.map((row) => [row.id, entry(row)]))
}

function newGtins(writes: readonly ProductWrite[]): readonly string[] {
  return [...new Set(writes.flatMap((write) => ('draft' in write && write.draft.gtin !== undefined ? gtin14(write.draft.gtin) : [])))]
}

/**
 * Keeps other transactions from giving a product a GTIN until this one ends. No unique index can refuse the same GTIN in another
 * length, because databases of earlier releases have such products.
 */
async function lockGtins({ query }: Queries, gtins: readonly string[]): Promise<void> {
  if (gtins.length > 0) await query('SELECT pg_advisory_xact_lock($1)', [gtinLock])
}

/** The ids of the products that have the GTINs, in the order of their rows. */
async function readHolders({ query }: Queries, gtins: readonly string[]): Promise<Holders> {
  if (gtins.length === 0) return new Holders([])
  const sql = `SELECT id, ${gtin14Column} AS gtin14 FROM product WHERE ${gtin14Column} = ANY($1) ORDER BY seq`
  return new Holders(await query<Holder>(sql, [gtins]))
}

interface Holder {
  readonly id: string
  readonly gtin14: string
}

/** Which products have a GTIN, as the writes of a batch have left it so far. */
class Holders {
  readonly #ids = new Map<string, Set<string>>()

  constructor(holders: readonly Holder[]) {
    for (const { id, gtin14 } of holders) this.#of(gtin14).add(id)
  }

  other(gtin: string, id: string): string | undefined {
    return [...this.#of(gtin14(gtin))].find((one) => one !== id)
  }

  change(id: string, from: string | undefined, to: string | undefined): void {
    if (from !== undefined) this.#of(gtin14(from)).delete(id)
    if (to !== undefined) this.#of(gtin14(to)).add(id)
  }

  #of(gtin: string): Set<string> {
    const ids = this.#ids.get(gtin) ?? new Set()
    this.#ids.set(gtin, ids)
    return ids
  }
}

/** Raises the catalogue's revision if a product changes. @returns a function that sets the times of a change */
async function stamp(queries: Queries, isRevised: boolean): Promise<(change: CatalogueChange) => CatalogueChange> {
  // Both are awaited together: when the connection is lost, the one that is not awaited would end the process.
  const [revisedAt, [row]] = await Promise.all([isRevised ? revise(queries) : 0, queries.query<{ now: number }>(`SELECT ${now} AS now`)])
  return (change) => withTimes(change, revisedAt, row?.now ?? 0)
}
