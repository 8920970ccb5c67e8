/** What a write makes of a product, decided in memory on the row that is locked. */

import { DomainError } from '../../domain/errors.ts'
import { compare, type Decimal, plain, zero } from '../../domain/money.ts'
import { availabilityOf, type ProductDraft } from '../../domain/product.ts'
import type { Precondition } from '../../domain/store.ts'
import { checkPrecondition } from '../preconditions.ts'
import type { ProductRow, StockRow } from './rows.ts'

/** A product and its stock as they stand; no `seq` before it is inserted. */
export interface Item extends Omit<ProductRow, 'seq'>, StockRow {
  readonly seq: number | undefined
}

/** What a write left, and what of it is new. */
export interface Change extends Item {
  readonly created: boolean
  readonly changed: { readonly product: boolean; readonly stock: boolean }
}

export type ProductWrite = { readonly id: string } & (
  | { readonly verb: 'create'; readonly draft: ProductDraft }
  | { readonly verb: 'put'; readonly draft: ProductDraft; readonly expected: Precondition }
  | { readonly verb: 'delete'; readonly expected: Precondition }
  | { readonly verb: 'import'; readonly draft: ProductDraft }
  | { readonly verb: 'count'; readonly onHand: Decimal; readonly expected: Precondition }
)

export interface Catalogue {
  readonly currency: string
  /** The id of the product that has a GTIN. */
  holder(gtin: string): string | undefined
}

/** @throws DomainError what the verb throws */
export function applied(write: ProductWrite, item: Item | undefined, catalogue: Catalogue): Change {
  const there = item?.deleted === false ? item : undefined
  switch (write.verb) {
    case 'create':
      if (there) throw new DomainError('product-exists', `There is a product ${write.id} already.`)
      return saved(write.id, write.draft, item, catalogue)
    case 'put':
      checkPrecondition(write.expected, there?.version)
      return saved(write.id, write.draft, item, catalogue)
    case 'delete': {
      const product = live(write.id, item)
      checkPrecondition(write.expected, product.version)
      const deletion = { description: null, gtin: null, categories: [], images: [], deleted: true }
      return { ...product, ...deletion, version: product.version + 1, created: false, changed: { product: true, stock: false } }
    }
    case 'import':
      if (!there || !says(there, write.draft, catalogue.currency)) return saved(write.id, write.draft, item, catalogue)
      if (write.draft.onHand !== undefined && compare(write.draft.onHand, there.on_hand) !== 0) return counted(there, write.draft.onHand)
      return { ...there, created: false, changed: { product: false, stock: false } }
    case 'count': {
      const product = live(write.id, item)
      checkPrecondition(write.expected, product.stock_version)
      return counted(product, write.onHand)
    }
  }
}

function counted(item: Item, onHand: Decimal): Change {
  const availability = availabilityOf(onHand, item.backorder)
  const flips = availability !== item.availability
  return {
    ...item,
    version: item.version + (flips ? 1 : 0),
    availability,
    on_hand: plain(onHand),
    stock_version: item.stock_version + 1,
    created: false,
    changed: { product: flips, stock: true }
  }
}

/** Whether a product is what the draft would make it. */
function says(item: Item, draft: ProductDraft, currency: string): boolean {
  return (
    (draft.currency ?? currency) === currency &&
    item.name === draft.name &&
    item.description === (draft.description ?? null) &&
    item.price === draft.price &&
    item.unit === draft.unit &&
    item.minimum_quantity === (draft.minimumQuantity ?? null) &&
    item.quantity_step === (draft.quantityStep ?? null) &&
    item.gtin === (draft.gtin ?? null) &&
    JSON.stringify(item.categories) === JSON.stringify(draft.categories) &&
    JSON.stringify(item.images) === JSON.stringify(draft.images) &&
    item.backorder === draft.backorder
  )
}

/** @throws DomainError `product-not-found`, `product-deleted` */
export function live<Row extends { deleted: boolean }>(id: string, row: Row | undefined): Row {
  if (!row) throw new DomainError('product-not-found', `There is no product ${id}.`)
  if (row.deleted) throw new DomainError('product-deleted', `The product ${id} is no longer sold.`)
  return row
}

function saved(id: string, draft: ProductDraft, item: Item | undefined, { currency, holder }: Catalogue): Change {
  if (draft.currency !== undefined && draft.currency !== currency) {
    const detail = `This shop sells in ${currency}, not in ${draft.currency}.`
    throw new DomainError('invalid-product', detail, { faults: [{ code: 'wrong-currency', at: ['price'], detail }] })
  }
  const other = draft.gtin === undefined ? undefined : holder(draft.gtin)
  if (other !== undefined && other !== id) throw new DomainError('gtin-taken', `The GTIN ${draft.gtin} is that of the product ${other}.`)
  const there = item?.deleted === false ? item : undefined
  const onHand = draft.onHand ?? there?.on_hand ?? zero
  const counts = draft.onHand !== undefined || !there
  return {
    seq: item?.seq,
    id,
    version: (item?.version ?? 0) + 1,
    name: draft.name,
    description: draft.description ?? null,
    price: draft.price,
    unit: draft.unit,
    minimum_quantity: draft.minimumQuantity ?? null,
    quantity_step: draft.quantityStep ?? null,
    gtin: draft.gtin ?? null,
    categories: draft.categories,
    images: draft.images,
    backorder: draft.backorder,
    availability: availabilityOf(onHand, draft.backorder),
    modified_at: item?.modified_at ?? 0,
    deleted: false,
    on_hand: plain(onHand),
    stock_version: (item?.stock_version ?? 0) + (counts ? 1 : 0),
    stock_modified_at: item?.stock_modified_at ?? 0,
    created: !there,
    changed: { product: true, stock: counts }
  }
}
