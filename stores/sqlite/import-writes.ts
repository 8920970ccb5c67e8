import { compare } from '../../domain/money.ts'
import type { ProductDraft } from '../../domain/product.ts'
import type { ImportItem, ImportOutcome } from '../../domain/store.ts'
import { productColumns } from '../rows.ts'
import { makeCatalogueWrites } from './catalogue-writes.ts'
import type { Connection } from './connection.ts'
import { failureOf } from './failures.ts'
import { fromThousandths, type ProductRow } from './rows.ts'
import type { TextIndex } from './search.ts'
import { makeStockLedger } from './stock-ledger.ts'
import type { Writes } from './writes.ts'

type Standing = ProductRow & { readonly on_hand: string }

export function makeImportWrites(db: Connection, currency: string, index: TextIndex): Writes<'importProducts'> {
  const shelving = makeStockLedger(db)
  /** All that a batch changes is one revision of the catalogue. */
  let revisedAt: number | undefined
  const catalogue = makeCatalogueWrites(db, currency, index, shelving, () => {
    revisedAt ??= shelving.revise()
    return revisedAt
  })
  const find = db.prepare<[string], Standing>(
    `SELECT ${productColumns}, CAST(s.on_hand AS TEXT) AS on_hand FROM product p JOIN stock s ON s.product = p.seq
      WHERE p.id = ? AND p.deleted = 0`
  )
  const [save, undo, release] = [db.prepare('SAVEPOINT rehearsal'), db.prepare('ROLLBACK TO rehearsal'), db.prepare('RELEASE rehearsal')]

  function write({ id, draft }: ImportItem): ImportOutcome {
    const row = find.get(id)
    if (row && says(row, draft, currency)) {
      if (draft.onHand === undefined || compare(draft.onHand, fromThousandths(row.on_hand)) === 0) return 'unchanged'
      catalogue.putStock(id, draft.onHand, {})
      return 'replaced'
    }
    return catalogue.putProduct(id, draft, {}).created ? 'created' : 'replaced'
  }

  function attempt(item: ImportItem): ImportOutcome {
    try {
      return write(item)
    } catch (error) {
      // What is refused is refused before anything of it is written, so an item needs no savepoint of its own.
      const failure = failureOf(error, db.name)
      if (failure.kind !== 'domain' || failure.code === 'store-unavailable') throw error
      return { code: failure.code, message: failure.message, faults: failure.faults }
    }
  }

  function all(batch: readonly ImportItem[]): readonly ImportOutcome[] {
    revisedAt = undefined
    return batch.map(attempt)
  }

  function rehearse(batch: readonly ImportItem[]): readonly ImportOutcome[] {
    const mark = index.mark()
    save.run()
    const outcomes = all(batch)
    index.dropAfter(mark)
    undo.run()
    release.run()
    return outcomes
  }

  return {
    importProducts: (batch, mode) => (mode === 'rehearse' ? rehearse(batch) : all(batch))
  }
}

/** Whether a product's row is what the draft would make it. */
function says(row: ProductRow, draft: ProductDraft, currency: string): boolean {
  return (
    (draft.currency ?? currency) === currency &&
    row.name === draft.name &&
    row.description === (draft.description ?? null) &&
    row.price === draft.price &&
    row.unit === draft.unit &&
    row.minimum_quantity === (draft.minimumQuantity ?? null) &&
    row.quantity_step === (draft.quantityStep ?? null) &&
    row.gtin === (draft.gtin ?? null) &&
    row.categories === JSON.stringify(draft.categories) &&
    row.images === JSON.stringify(draft.images) &&
    row.backorder === (draft.backorder ? 1 : 0)
  )
}
