/** The weights of writes in a queue. A line of an order weighs 1, and so does each KiB of text. */

import { textOf } from '../domain/deferred.ts'
import type { PurchaseOrder, PurchaseOrderItem } from '../domain/order.ts'
import type { ProductDraft } from '../domain/product.ts'

/** The weight at which a batch is full. A batch is limited so that one commit does not delay the others for long. */
export const batchWeight = 2_000

/** A write of this weight or more is large. So is an order of this many products, whatever it weighs. */
export const minLarge = 256

/** Small and large writes wait in lanes of their own. */
export type LaneName = 'small' | 'large'

export function laneOf(weight: number): LaneName {
  return weight < minLarge ? 'small' : 'large'
}

/** Characters of the shortest line of a stored order. */
const storedLine = 110

/** Characters of stored orders with which a batch is full. */
export const mostStored = batchWeight * storedLine

/** Characters of the largest stored order that a small write changes. */
export const mostStoredOfSmall = minLarge * storedLine

/** Characters of the shortest order line as JSON. */
const shortestLine = 58

/** Characters of the shortest item of a shipment as JSON. */
const shortestDetail = 25

const length = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0)
const inLines = (characters: number) => characters >> 10

/** The length of a deferred text is in characters, or in bytes, of which a wide character has two to four. */
export function orderSize(
  order: Pick<PurchaseOrder, 'notes' | 'extensions'> & { readonly items: readonly Pick<PurchaseOrderItem, 'notes' | 'extensions'>[] }
): number {
  const json = textOf(order)
  if (json !== undefined) return 1 + Math.ceil(json.length / shortestLine)
  const { items } = order
  const texts = [order, ...items].reduce(
    (sum, { notes, extensions = [] }) => sum + length(notes) + length(extensions.map(({ value }) => value)),
    0
  )
  return 1 + items.length + inLines(texts)
}

/** The weight of a stored order that a write reads or changes. @param length of its JSON */
export function storedSize(length: number): number {
  return Math.floor(length / storedLine)
}

/** The weight of a shipment, or of the details of a status. Each item weighs 1. */
export function detailsSize(value: { readonly items?: readonly unknown[] }): number {
  const json = textOf(value)
  return 1 + (json === undefined ? (value.items?.length ?? 0) : Math.ceil(json.length / shortestDetail))
}

export function draftSize({ description = '', categories, images }: ProductDraft): number {
  return 1 + inLines(description.length + length(categories) + length(images))
}
