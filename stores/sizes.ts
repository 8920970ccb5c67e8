/** The weight of a write in a queue: each line of an order counts one, and each KiB of text as much. */

import { textOf } from '../domain/deferred.ts'
import type { PurchaseOrder, PurchaseOrderItem } from '../domain/order.ts'
import type { ProductDraft } from '../domain/product.ts'

/** The length of the smallest line as JSON. */
const charactersOfLine = 58

const length = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0)
const inLines = (characters: number) => characters >> 10

export function orderSize(
  order: Pick<PurchaseOrder, 'notes' | 'extensions'> & { readonly items: readonly Pick<PurchaseOrderItem, 'notes'>[] }
): number {
  const json = textOf(order)
  if (json !== undefined) return 1 + Math.ceil(json.length / charactersOfLine)
  const { items, notes, extensions } = order
  const texts = length(notes) + length(extensions.map(({ value }) => value)) + items.reduce((sum, item) => sum + length(item.notes), 0)
  return 1 + items.length + inLines(texts)
}

export function draftSize({ description = '', categories, images }: ProductDraft): number {
  return 1 + inLines(description.length + length(categories) + length(images))
}
