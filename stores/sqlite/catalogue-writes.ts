import { DomainError } from '../../domain/errors.ts'
import { availabilityOf, type Product, type ProductDraft } from '../../domain/product.ts'
import { checkPrecondition } from '../preconditions.ts'
import { productColumns } from '../rows.ts'
import type { Connection } from './connection.ts'
import { fromThousandths, type ProductRow, type StockRow, stockColumns, toProduct, toStock, toThousandths } from './rows.ts'
import type { TextIndex } from './search.ts'
import { makeStockLedger, type StockLedger } from './stock-ledger.ts'
import type { Writes } from './writes.ts'

type CatalogueVerb = 'createProduct' | 'putProduct' | 'deleteProduct' | 'putStock'
type Filled = Omit<ProductRow, 'seq' | 'deleted'>

const filled =
  'version, name, description, price, unit, minimum_quantity, quantity_step, gtin, categories, images, backorder, availability, modified_at'

/** @param revise raises the catalogue's revision for a product that is put or created, and gives the time of the change */
export function makeCatalogueWrites(
  db: Connection,
  currency: string,
  index: TextIndex,
  shelving: StockLedger = makeStockLedger(db),
  revise: () => number = shelving.revise
): Writes<CatalogueVerb> {
  const find = db.prepare<[string], ProductRow>(`SELECT ${productColumns} FROM product p WHERE p.id = ?`)
  const findGtin = db.prepare<[string, string], string>('SELECT id FROM product WHERE gtin = ? AND id <> ?').pluck()
  const findStock = db.prepare<[number], StockRow>(`SELECT ${stockColumns} FROM stock s WHERE s.product = ?`)
  const values = filled.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare<[Filled]>(`INSERT INTO product (id, ${filled}) VALUES (@id, ${values})`)
  const update = db.prepare<[Filled]>(`UPDATE product SET deleted = 0, (${filled}) = (${values}) WHERE id = @id`)
  const bury = db.prepare<[number, number]>(
    `UPDATE product SET deleted = 1, version = version + 1, modified_at = ?,
      description = NULL, gtin = NULL, categories = '[]', images = '[]' WHERE seq = ?`
  )
  const insertStock = db.prepare<[number, bigint, number]>('INSERT INTO stock (product, version, on_hand, modified_at) VALUES (?, 1, ?, ?)')
  const addCategory = db.prepare<[string, string]>('INSERT OR IGNORE INTO category (category, product) VALUES (?, ?)')
  const dropCategory = db.prepare<[string, string]>('DELETE FROM category WHERE category = ? AND product = ?')

  function live(id: string): ProductRow {
    const row = find.get(id)
    if (!row) throw new DomainError('product-not-found', `There is no product ${id}.`)
    if (row.deleted === 1) throw new DomainError('product-deleted', `The product ${id} is no longer sold.`)
    return row
  }

  function stockOf(seq: number): StockRow {
    const row = findStock.get(seq)
    if (!row) throw new Error(`the product row ${seq} has no stock`)
    return row
  }

  function save(id: string, draft: ProductDraft, row: ProductRow | undefined): Product {
    accept(id, draft)
    const there = row?.deleted === 0 ? row : undefined
    const counted = draft.onHand === undefined ? undefined : toThousandths(draft.onHand)
    const units = counted ?? (there ? BigInt(stockOf(there.seq).on_hand) : 0n)
    const next = fill(id, (row?.version ?? 0) + 1, draft, units, revise())
    const seq = row?.seq ?? Number(insert.run(next).lastInsertRowid)
    const saved: ProductRow = { ...next, seq, deleted: 0 }
    if (row) update.run(next)
    if (!row) insertStock.run(seq, units, Date.now())
    else if (counted !== undefined || !there) shelving.count(saved, units)
    categorise(id, there?.categories ?? '[]', next.categories)
    index.write(seq, there, next)
    return toProduct(saved, currency)
  }

  function accept(id: string, draft: ProductDraft): void {
    if (draft.currency !== undefined && draft.currency !== currency) {
      const detail = `This shop sells in ${currency}, not in ${draft.currency}.`
      throw new DomainError('invalid-product', detail, { faults: [{ code: 'wrong-currency', at: ['price'], detail }] })
    }
    const other = draft.gtin === undefined ? undefined : findGtin.get(draft.gtin, id)
    if (other !== undefined) throw new DomainError('gtin-taken', `The GTIN ${draft.gtin} is that of the product ${other}.`)
  }

  function categorise(id: string, before: string, now: string): void {
    if (before === now) return
    for (const category of JSON.parse(before)) dropCategory.run(category, id)
    for (const category of JSON.parse(now)) addCategory.run(category, id)
  }

  return {
    createProduct(id, draft) {
      const row = find.get(id)
      if (row?.deleted === 0) throw new DomainError('product-exists', `There is a product ${id} already.`)
      return save(id, draft, row)
    },
    putProduct(id, draft, expected) {
      const row = find.get(id)
      const there = row?.deleted === 0
      checkPrecondition(expected, there ? row.version : undefined)
      return { product: save(id, draft, row), created: !there }
    },
    deleteProduct(id, expected) {
      const row = live(id)
      checkPrecondition(expected, row.version)
      bury.run(shelving.revise(), row.seq)
      categorise(id, row.categories, '[]')
      index.remove(row.seq)
    },
    putStock(id, onHand, expected) {
      const row = live(id)
      checkPrecondition(expected, stockOf(row.seq).version)
      shelving.count(row, toThousandths(onHand))
      return toStock(id, stockOf(row.seq))
    }
  }
}

function fill(id: string, version: number, draft: ProductDraft, units: bigint, at: number): Filled {
  return {
    id,
    version,
    name: draft.name,
    description: draft.description ?? null,
    price: draft.price,
    unit: draft.unit,
    minimum_quantity: draft.minimumQuantity ?? null,
    quantity_step: draft.quantityStep ?? null,
    gtin: draft.gtin ?? null,
    categories: JSON.stringify(draft.categories),
    images: JSON.stringify(draft.images),
    backorder: draft.backorder ? 1 : 0,
    availability: availabilityOf(fromThousandths(units), draft.backorder),
    modified_at: at
  }
}
