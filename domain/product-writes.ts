/** These functions decide how a write changes a product and its stock. Every store calls them on rows that it has locked. */

import { wrongCurrency } from './currency.ts'
import { DomainError } from './errors.ts'
import { newAvailability } from './inventory.ts'
import { compare, type Decimal, plain, zero } from './money.ts'
import { checkPrecondition, type Precondition } from './preconditions.ts'
import { availabilityOf, type Product, type ProductDraft, requireActive, type Stock } from './product.ts'

/** One product of a file that is imported. */
export interface ImportItem {
  readonly id: string
  readonly draft: ProductDraft
}

/**
 * The result of an import for one item. `created`: there was no such product, or it had been deleted. `replaced`: the product
 * or its stock differed. `unchanged`: neither differed, and nothing was written. A refused item has
 * its DomainError as plain data.
 */
export type ImportOutcome = 'created' | 'replaced' | 'unchanged' | Pick<DomainError, 'code' | 'message' | 'faults'>

/** A product with its stock, as its rows have them. A deleted product keeps both. */
export interface CatalogueEntry {
  readonly product: Product
  readonly stock: Stock
  readonly deleted: boolean
}

/** An entry after a write, with the parts of it that the write changed. */
export interface CatalogueChange extends CatalogueEntry {
  /** Whether there was no such product before, or a deleted one. */
  readonly created: boolean
  /** A product that changes has a new version and raises the catalogue's revision; stock that changes has a new version. */
  readonly changed: { readonly product: boolean; readonly stock: boolean }
}

export type ProductWrite =
  | ({ readonly verb: 'create' | 'import' } & ImportItem)
  | ({ readonly verb: 'put'; readonly expected: Precondition } & ImportItem)
  | { readonly verb: 'delete'; readonly id: string; readonly expected: Precondition }
  | { readonly verb: 'setStock'; readonly id: string; readonly onHand: Decimal; readonly expected: Precondition }

export interface Catalogue {
  /** The shop's, ISO 4217. */
  readonly currency: string
  /** The id of another product than `id` that has a GTIN, whatever its length. */
  otherHolder(gtin: string, id: string): string | undefined
}

/**
 * Decides one write. The change still has the old times: see `withTimes`.
 * @param entry the product that the write names, if it was ever there
 * @throws DomainError with the codes of the store's verb
 */
export function decideProduct(write: ProductWrite, entry: CatalogueEntry | undefined, catalogue: Catalogue): CatalogueChange {
  const active = entry?.deleted === false ? entry : undefined
  switch (write.verb) {
    case 'create':
      if (active) throw productExists(write.id)
      return saved(write, entry, active, catalogue)
    case 'put':
      checkPrecondition(write.expected, active?.product.version)
      return saved(write, entry, active, catalogue)
    case 'import':
      return active && matchesDraft(active.product, write.draft)
        ? stockImported(active, write.draft.onHand)
        : saved(write, entry, active, catalogue)
    case 'delete': {
      const { product, stock } = requireActive(write.id, entry)
      checkPrecondition(write.expected, product.version)
      const { description: _description, gtin: _gtin, ...rest } = product
      const emptied = { ...rest, version: product.version + 1, categories: [], images: [] }
      return { product: emptied, stock, deleted: true, created: false, changed: { product: true, stock: false } }
    }
    case 'setStock': {
      const found = requireActive(write.id, entry)
      checkPrecondition(write.expected, found.stock.version)
      return stockSet(found, write.onHand)
    }
  }
}

/** A change with its times. @param revisedAt the time of the catalogue's new revision; unused when no product changes */
export function withTimes(change: CatalogueChange, revisedAt: number, now: number): CatalogueChange {
  const { product, stock, changed } = change
  return {
    ...change,
    product: changed.product ? { ...product, modifiedAt: revisedAt } : product,
    stock: changed.stock ? { ...stock, modifiedAt: Math.max(now, stock.modifiedAt) } : stock
  }
}

/** The outcome of an imported item. Only a refusal is an outcome: any other error of `write` is thrown. */
export function importOutcome(write: () => CatalogueChange): ImportOutcome {
  try {
    const { created, changed } = write()
    return created ? 'created' : changed.product || changed.stock ? 'replaced' : 'unchanged'
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { code: error.code, message: error.message, faults: error.faults }
  }
}

function productExists(id: string): DomainError {
  const detail = `There is a product ${id} already. Choose another id, or replace that product with PUT.`
  return new DomainError('product-exists', detail, { productId: id, faults: [{ detail, at: [] }] })
}

/** @param active the entry, unless its product is deleted */
function saved(
  { id, draft }: ImportItem,
  entry: CatalogueEntry | undefined,
  active: CatalogueEntry | undefined,
  { currency, otherHolder }: Catalogue
): CatalogueChange {
  if (draft.currency !== undefined && draft.currency !== currency) {
    const fault = wrongCurrency(currency, draft.currency, 'price')
    throw new DomainError('invalid-product', fault.detail, { faults: [fault] })
  }
  // A product of an earlier release keeps its GTIN, although another may have it in another length.
  const isNewGtin = draft.gtin !== undefined && draft.gtin !== active?.product.gtin
  const holder = isNewGtin ? otherHolder(draft.gtin, id) : undefined
  if (holder !== undefined) {
    const detail = `The product ${holder} already has the GTIN ${draft.gtin}. Correct the GTIN here or there.`
    throw new DomainError('gtin-taken', detail, { faults: [{ detail, at: ['gtin'] }] })
  }
  const { onHand = active?.stock.onHand ?? zero, ...content } = draft
  const setsStock = draft.onHand !== undefined || !active
  const version = (entry?.product.version ?? 0) + 1
  const availability = availabilityOf(onHand, draft.backorder)
  return {
    product: { ...content, id, version, currency, availability, modifiedAt: entry?.product.modifiedAt ?? 0 },
    stock: {
      productId: id,
      version: (entry?.stock.version ?? 0) + (setsStock ? 1 : 0),
      onHand: plain(onHand),
      modifiedAt: entry?.stock.modifiedAt ?? 0
    },
    deleted: false,
    created: !active,
    changed: { product: true, stock: setsStock }
  }
}

function stockImported(entry: CatalogueEntry, onHand: Decimal | undefined): CatalogueChange {
  if (onHand !== undefined && compare(onHand, entry.stock.onHand) !== 0) return stockSet(entry, onHand)
  return { ...entry, created: false, changed: { product: false, stock: false } }
}

function stockSet({ product, stock, deleted }: CatalogueEntry, onHand: Decimal): CatalogueChange {
  const availability = newAvailability({ ...product, deleted }, onHand)
  return {
    product: availability ? { ...product, availability, version: product.version + 1 } : product,
    stock: { ...stock, onHand: plain(onHand), version: stock.version + 1 },
    deleted,
    created: false,
    changed: { product: availability !== undefined, stock: true }
  }
}

type Content = Omit<ProductDraft, 'currency' | 'onHand'>

/** Every field of a draft except its currency and stock. The type requires all of them, so that none is forgotten. */
const contentFields: { readonly [Name in keyof Required<Content>]: true } = {
  name: true,
  description: true,
  price: true,
  unit: true,
  minimumQuantity: true,
  quantityStep: true,
  gtin: true,
  categories: true,
  images: true,
  backorder: true
}
const contentNames = Object.keys(contentFields) as readonly (keyof Content)[]

/** Whether a draft and a product have the same content, to the letter. The stock does not count. */
function matchesDraft(product: Product, draft: ProductDraft): boolean {
  return (draft.currency ?? product.currency) === product.currency && contentNames.every((name) => isSame(product[name], draft[name]))
}

function isSame(value: Content[keyof Content], other: Content[keyof Content]): boolean {
  return value === other || (typeof value === 'object' && JSON.stringify(value) === JSON.stringify(other))
}

/** The content as text. Products with the same text have the same content. */
export function contentOf(draft: Content): string {
  return JSON.stringify(contentNames.map((name) => draft[name] ?? null))
}
