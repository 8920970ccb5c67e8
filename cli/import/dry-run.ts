import { createHash } from 'node:crypto'
import { decimal } from '../../domain/money.ts'
import type { ProductDraft } from '../../domain/product.ts'
import type { ImportItem, ImportOutcome, Store } from '../../domain/store.ts'
import { type Entered, ImportTally } from './import-tally.ts'

/** What no line can say, since a name is not empty: whatever a line says is another. */
const blank: ProductDraft = { name: '', price: decimal('0'), unit: 'C62', categories: [], images: [], backorder: false }

/**
 * An import of which nothing stays, batch by batch, with the outcomes that it would have. The store forgets a rehearsed
 * batch, so what earlier ones made of the products that the next one is about, and of those that have or had its GTINs, is
 * rehearsed again before it, in the same transaction.
 */
export class DryRun implements Pick<Store, 'importProducts'> {
  readonly #store: Store
  readonly #ledger = new ImportTally()
  /** Whether a product of the store may have given up its GTIN. */
  #isReplacing = false

  constructor(store: Store) {
    this.#store = store
  }

  async importProducts(items: readonly ImportItem[]): Promise<readonly ImportOutcome[]> {
    const recalled = new Map<string, Entered>()
    const recall = (entered: Entered | undefined) => entered && recalled.set(entered.id, entered)
    for (const { id, draft } of items) {
      recall(this.#ledger.find(id))
      if (draft.gtin !== undefined) recall(this.#ledger.holder(draft.gtin))
    }
    const asked = new Set<string>()
    for (;;) {
      const before = replay([...recalled.values()], items)
      const batch = [...before, ...items]
      const outcomes = await this.#store.importProducts(batch, 'rehearse')
      const [count, taken] = [recalled.size, takenGtins(batch, outcomes).filter((gtin) => !asked.has(gtin))]
      if (this.#isReplacing) for (const id of await this.#holders(taken)) recall(this.#ledger.find(id))
      if (recalled.size === count) {
        const own = outcomes.slice(before.length)
        this.#remember(items, own)
        return own
      }
      for (const gtin of taken) asked.add(gtin)
    }
  }

  close(): void {
    this.#ledger.close()
  }

  /** Which products of the store have these GTINs; earlier batches may have taken them away. */
  async #holders(gtins: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all(gtins.map((gtin) => holderOf(this.#store, gtin)))
    return found.flatMap((id) => id ?? [])
  }

  #remember(items: readonly ImportItem[], outcomes: readonly ImportOutcome[]): void {
    for (const [i, { id, draft }] of items.entries()) {
      const outcome = outcomes[i]
      if (typeof outcome !== 'string') continue
      const known = this.#ledger.find(id)
      if (!known && outcome === 'unchanged') continue
      if (outcome === 'replaced') this.#isReplacing = true
      this.#ledger.enter({ id, digest: digest(draft), gtin: draft.gtin, onHand: draft.onHand ?? known?.onHand })
    }
  }
}

/** Makes products what they became. All GTINs are given up before any is taken, as two may have exchanged theirs. */
function replay(entries: readonly Entered[], items: readonly ImportItem[]): readonly ImportItem[] {
  const ids = new Set(entries.map(({ id }) => id))
  const known = items.filter(({ id }) => ids.has(id))
  const drafts = new Map(known.map(({ id, draft }) => [`${id} ${digest(draft)}`, draft]))
  const bare = entries.map(({ id, digest, onHand }): ImportItem => {
    const { currency: _currency, gtin: _gtin, onHand: _onHand, ...said } = drafts.get(`${id} ${digest}`) ?? blank
    return { id, draft: { ...said, ...(onHand === undefined ? {} : { onHand }) } }
  })
  const marked = bare.flatMap(({ id, draft }, i) => {
    const gtin = entries[i]?.gtin
    return gtin === undefined ? [] : { id, draft: { ...draft, gtin } }
  })
  return [...bare, ...marked]
}

function takenGtins(batch: readonly ImportItem[], outcomes: readonly ImportOutcome[]): readonly string[] {
  const taken = batch.flatMap(({ draft }, i) => {
    const outcome = outcomes[i]
    return typeof outcome === 'object' && outcome.code === 'gtin-taken' ? (draft.gtin ?? []) : []
  })
  return [...new Set(taken)]
}

async function holderOf(store: Store, gtin: string): Promise<string | undefined> {
  for (let after: string | undefined; ; ) {
    const page = await store.products({ q: gtin, limit: 100, ...(after === undefined ? {} : { after }) })
    const found = page.items.find((product) => product.gtin === gtin)
    if (found || page.next === undefined) return found?.id
    after = page.next
  }
}

/** Of all that makes an import write a product, except its stock. */
function digest(draft: ProductDraft): string {
  const { name, description, price, unit, minimumQuantity, quantityStep, gtin, categories, images, backorder } = draft
  const quantities = [minimumQuantity ?? null, quantityStep ?? null]
  const said = JSON.stringify([name, description ?? null, price, unit, quantities, gtin ?? null, categories, images, backorder])
  return createHash('sha256').update(said).digest('base64url')
}
