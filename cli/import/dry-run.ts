import { hash } from 'node:crypto'
import { decimal } from '../../domain/money.ts'
import { gtin14, type ProductDraft } from '../../domain/product.ts'
import { contentOf, type ImportItem, type ImportOutcome } from '../../domain/product-writes.ts'
import type { Store } from '../../domain/store.ts'
import { piece } from '../../domain/units.ts'
import { ImportTally, type TallyEntry } from '../../stores/sqlite/import-tally.ts'

/** A draft that differs from every item, since it has no name. */
const blankDraft: ProductDraft = { name: '', price: decimal('0'), unit: piece, categories: [], images: [], backorder: false }

/**
 * Finds the outcomes of an import of several batches, on either store, without storing anything. The store undoes each batch
 * of a dry run. So before each batch, in the same transaction, the changes that earlier batches made are replayed: to
 * the batch's products, and to the products that have or had its GTINs. Where two products share a GTIN, as in databases of
 * earlier releases, and the file has one of them twice, the second is refused here although the import takes it.
 */
export class ImportDryRun implements Pick<Store, 'importProducts'> {
  readonly #store: Store
  readonly #tally = new ImportTally()
  /** Whether the import has replaced products, so that some may have given up their GTINs. */
  #hasReplaced = false

  constructor(store: Store) {
    this.#store = store
  }

  async importProducts(items: readonly ImportItem[]): Promise<readonly ImportOutcome[]> {
    const replayed = new Map<string, TallyEntry>()
    const addReplay = (entered: TallyEntry | undefined) => entered && replayed.set(entered.id, entered)
    for (const { id, draft } of items) {
      addReplay(this.#tally.find(id))
      if (draft.gtin !== undefined) addReplay(this.#tally.holder(draft.gtin))
    }
    const lookedUp = new Set<string>()
    for (;;) {
      const before = replay([...replayed.values()], items)
      const batch = [...before, ...items]
      const outcomes = await this.#store.importProducts(batch, 'dry-run')
      const [count, taken] = [replayed.size, takenGtins(batch, outcomes).filter((gtin) => !lookedUp.has(gtin))]
      if (this.#hasReplaced) for (const id of await this.#holders(taken)) addReplay(this.#tally.find(id))
      if (replayed.size === count) {
        const own = outcomes.slice(before.length)
        this.#remember(items, own)
        return own
      }
      for (const gtin of taken) lookedUp.add(gtin)
    }
  }

  close(): void {
    this.#tally.close()
  }

  /** The products that have these GTINs in the store. Earlier batches may have changed them. */
  async #holders(gtins: readonly string[]): Promise<readonly string[]> {
    const found = await this.#store.productsCoded(gtins)
    const wanted = new Set(gtins.map(gtin14))
    return found.flatMap(({ id, gtin }) => (gtin !== undefined && wanted.has(gtin14(gtin)) ? id : []))
  }

  #remember(items: readonly ImportItem[], outcomes: readonly ImportOutcome[]): void {
    for (const [i, { id, draft }] of items.entries()) {
      const outcome = outcomes[i]
      if (typeof outcome !== 'string') continue
      const known = this.#tally.find(id)
      if (!known && outcome === 'unchanged') continue
      if (outcome === 'replaced') this.#hasReplaced = true
      this.#tally.enter({ id, digest: digest(draft), gtin: draft.gtin ?? null, onHand: draft.onHand ?? known?.onHand ?? null })
    }
  }
}

/** Items that repeat the changes of earlier batches. First all GTINs are removed and then set, since two products may have swapped theirs. */
function replay(entries: readonly TallyEntry[], items: readonly ImportItem[]): readonly ImportItem[] {
  const ids = new Set(entries.map(({ id }) => id))
  const known = items.filter(({ id }) => ids.has(id))
  const drafts = new Map(known.map(({ id, draft }) => [`${id} ${digest(draft)}`, draft]))
  const withoutGtin = entries.map(({ id, digest, onHand }): ImportItem => {
    const { currency: _currency, gtin: _gtin, onHand: _onHand, ...draft } = drafts.get(`${id} ${digest}`) ?? blankDraft
    return { id, draft: { ...draft, ...(onHand === null ? {} : { onHand }) } }
  })
  const withGtin = withoutGtin.flatMap(({ id, draft }, i) => {
    const gtin = entries[i]?.gtin
    return gtin ? { id, draft: { ...draft, gtin } } : []
  })
  return [...withoutGtin, ...withGtin]
}

function takenGtins(batch: readonly ImportItem[], outcomes: readonly ImportOutcome[]): readonly string[] {
  const taken = batch.flatMap(({ draft }, i) => {
    const outcome = outcomes[i]
    return typeof outcome === 'object' && outcome.code === 'gtin-taken' ? (draft.gtin ?? []) : []
  })
  return [...new Set(taken)]
}

function digest(draft: ProductDraft): string {
  return hash('sha256', contentOf(draft), 'base64url')
}
