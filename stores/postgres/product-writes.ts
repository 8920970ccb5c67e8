import { productColumns } from '../rows.ts'
import { attempt, type Outcome } from './batcher.ts'
import type { Database, Queries } from './database.ts'
import { Moved } from './failures.ts'
import { applied, type Change, type Item, type ProductWrite } from './product-changes.ts'
import { writeChanges } from './product-rows.ts'
import { now, type ProductRow, type StockRow, stockColumns } from './rows.ts'
import { revise } from './stock-ledger.ts'

/** @param mode with `rehearse` nothing is written, and the changes have no times */
type ProductWriter = (writes: readonly ProductWrite[], mode?: 'rehearse') => Promise<Outcome<Change>[]>

/**
 * Writes a batch of products in one transaction: their stock is locked, as an order does it, each write is decided in the
 * order of arrival, and what comes of all of them is written at once. Three round trips.
 */
export function makeProductWrites(database: Database, currency: string): ProductWriter {
  return (writes, mode) =>
    database.transaction(async (queries) => {
      const [before, holders] = await Promise.all([lockProducts(queries, writes), readHolders(queries, writes)])
      const items = new Map<string, Item>(before)
      const touched = new Map<string, Change>()
      const catalogue = { currency, holder: (gtin: string) => holders.get(gtin) }

      function decide(write: ProductWrite): Change {
        const item = items.get(write.id)
        const change = applied(write, item, catalogue)
        if (item?.gtin) holders.delete(item.gtin)
        if (change.gtin !== null) holders.set(change.gtin, change.id)
        items.set(write.id, change)
        const { product, stock } = touched.get(write.id)?.changed ?? change.changed
        touched.set(write.id, { ...change, changed: { product: product || change.changed.product, stock: stock || change.changed.stock } })
        return change
      }

      const outcomes = writes.map((write) => attempt(() => decide(write)))
      const changes = [...touched.values()].filter(({ changed }) => changed.product || changed.stock)
      if (changes.length === 0 || mode === 'rehearse') return outcomes
      const time = await stamp(
        queries,
        changes.some(({ changed }) => changed.product)
      )
      writeChanges(queries, before, changes.map(time))
      return outcomes.map((outcome) => ('value' in outcome ? { value: time(outcome.value) } : outcome))
    })
}

/** By id; a product that is not there cannot be locked, but its id is unique. */
async function lockProducts({ query }: Queries, writes: readonly ProductWrite[]): Promise<Map<string, Item & ProductRow>> {
  const ids = [[...new Set(writes.map(({ id }) => id))]]
  const locked = query<{ product: number }>(
    'SELECT s.product FROM stock s WHERE s.product IN (SELECT p.seq FROM product p WHERE p.id = ANY($1)) ORDER BY s.product FOR UPDATE',
    ids
  )
  const read = query<ProductRow & StockRow>(
    `SELECT ${productColumns}, ${stockColumns} FROM product p JOIN stock s ON s.product = p.seq WHERE p.id = ANY($1)`,
    ids
  )
  const ours = new Set((await locked).map(({ product }) => product))
  const rows = await read
  if (rows.some(({ seq }) => !ours.has(seq))) throw new Moved('a product has come')
  return new Map(rows.map((row) => [row.id, row]))
}

async function readHolders({ query }: Queries, writes: readonly ProductWrite[]): Promise<Map<string, string>> {
  const gtins = writes.flatMap((write) => ('draft' in write ? (write.draft.gtin ?? []) : []))
  if (gtins.length === 0) return new Map()
  const rows = await query<{ id: string; gtin: string }>('SELECT id, gtin FROM product WHERE gtin = ANY($1)', [[...new Set(gtins)]])
  return new Map(rows.map(({ id, gtin }) => [gtin, id]))
}

/** Sets the times of changes: a product's is that of the catalogue's revision, which is raised when one changes. */
async function stamp(queries: Queries, revised: boolean): Promise<(change: Change) => Change> {
  const at = revised ? revise(queries) : Promise.resolve(0)
  const [row] = await queries.query<{ now: number }>(`SELECT ${now} AS now`)
  const [product, stock] = [await at, row?.now ?? 0]
  return (change) => ({
    ...change,
    modified_at: change.changed.product ? product : change.modified_at,
    stock_modified_at: change.changed.stock ? Math.max(stock, change.stock_modified_at) : change.stock_modified_at
  })
}
