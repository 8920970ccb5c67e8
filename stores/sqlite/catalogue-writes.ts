import { productEvents } from '../../domain/event.ts'
import { gtin14 } from '../../domain/product.ts'
import { type CatalogueChange, type CatalogueEntry, decideProduct, type ProductWrite, withTimes } from '../../domain/product-writes.ts'
import { columnsOf, productColumns } from '../rows.ts'
import type { Connection } from './connection.ts'
import type { EventLog } from './event-log.ts'
import { type ProductRow, type StockRow, stockColumns, toProduct, toStock, toThousandths } from './rows.ts'
import type { TextIndex } from './search.ts'
import { makeRevise } from './stock-ledger.ts'
import type { Writes } from './write-verbs.ts'

type CatalogueVerb = 'createProduct' | 'putProduct' | 'deleteProduct' | 'putStock'
type Values = Omit<ProductRow, 'seq'>
type LockedEntry = CatalogueEntry & { readonly seq: number }

const columns = `version, name, description, price, unit, minimum_quantity, quantity_step, gtin, categories, images, backorder,
  availability, modified_at, deleted`

/** Performs a write. If a product changes, `revise` raises the catalogue's revision and returns the time of the change. */
export type ApplyWrite = (write: ProductWrite, revise?: () => number) => CatalogueChange

export function makeApplyWrite(db: Connection, currency: string, index: TextIndex, events: EventLog): ApplyWrite {
  const findRow = db.prepare<[string], ProductRow & StockRow>(
    `SELECT ${productColumns}, ${stockColumns} FROM product p JOIN stock s ON s.product = p.seq WHERE p.id = ?`
  )
  const findOther = db.prepare<[string, string], string>('SELECT id FROM product WHERE gtin14 = ? AND id <> ? ORDER BY seq').pluck()
  const values = columns.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare<[Values]>(`INSERT INTO product (id, ${columns}) VALUES (@id, ${values})`)
  const update = db.prepare<[Values]>(`UPDATE product SET (${columns}) = (${values}) WHERE id = @id`)
  const replaceStock = db.prepare<[number, number, bigint, number]>(
    'REPLACE INTO stock (product, version, on_hand, modified_at) VALUES (?, ?, ?, ?)'
  )
  const addCategory = db.prepare<[string, string]>('INSERT OR IGNORE INTO category (category, product) VALUES (?, ?)')
  const dropCategory = db.prepare<[string, string]>('DELETE FROM category WHERE category = ? AND product = ?')
  const reviseAtOnce = makeRevise(db)
  const catalogue = { currency, otherHolder: (gtin: string, id: string) => findOther.get(gtin14(gtin), id) }

  function find(id: string): LockedEntry | undefined {
    const row = findRow.get(id)
    return row && { seq: row.seq, product: toProduct(row, currency), stock: toStock(id, row), deleted: row.deleted === 1 }
  }

  function save({ product, stock, deleted, changed }: CatalogueChange, before: LockedEntry | undefined): void {
    const row = toValues(product, deleted)
    const seq = before?.seq ?? Number(insert.run(row).lastInsertRowid)
    if (before && changed.product) update.run(row)
    if (changed.stock) replaceStock.run(seq, stock.version, toThousandths(stock.onHand), stock.modifiedAt)
    categorise(product.id, before?.product.categories ?? [], product.categories)
    index.write(seq, before?.deleted === false ? before.product : undefined, deleted ? undefined : product)
  }

  function categorise(id: string, before: readonly string[], now: readonly string[]): void {
    if (JSON.stringify(before) === JSON.stringify(now)) return
    for (const category of before) dropCategory.run(category, id)
    for (const category of now) addCategory.run(category, id)
  }

  return (write, revise = reviseAtOnce) => {
    const before = find(write.id)
    const decided = decideProduct(write, before, catalogue)
    const { changed } = decided
    if (!changed.product && !changed.stock) return decided
    const change = withTimes(decided, changed.product ? revise() : 0, Date.now())
    save(change, before)
    events.write(productEvents(change))
    return change
  }
}

export function makeCatalogueWrites(apply: ApplyWrite): Writes<CatalogueVerb> {
  return {
    createProduct: (id, draft) => apply({ verb: 'create', id, draft }).product,
    putProduct(id, draft, expected) {
      const { product, created } = apply({ verb: 'put', id, draft, expected })
      return { product, created }
    },
    deleteProduct(id, expected) {
      apply({ verb: 'delete', id, expected })
    },
    putStock: (id, onHand, expected) => apply({ verb: 'setStock', id, onHand, expected }).stock
  }
}

function toValues(product: CatalogueEntry['product'], deleted: boolean): Values {
  return {
    ...columnsOf(product),
    categories: JSON.stringify(product.categories),
    images: JSON.stringify(product.images),
    backorder: product.backorder ? 1 : 0,
    deleted: deleted ? 1 : 0
  }
}
