/** The shop's answer to each line of an order that was taken line by line. */

import type { Decimal } from './money.ts'

export const lineStatuses = ['accepted', 'changed', 'backordered', 'rejected'] as const

/**
 * `accepted`: as ordered. `changed`: less than ordered, or at another price than expected. `backordered`: as ordered, but not all
 * of it is on hand. `rejected`: the quantity is 0.
 */
export type LineStatus = (typeof lineStatuses)[number]

/** The answer to one line. Lines of an order that was placed as a whole have none. */
export interface LineAnswer {
  readonly lineStatus?: LineStatus
  /** The quantity of the document, if the order has another. */
  readonly orderedQuantity?: Decimal
  /** The price that the document expected, if the line has another. It is there to recognise a repeated document. */
  readonly expectedPrice?: Decimal
  /** Tells people why the line is not as ordered. */
  readonly reason?: string
}

export function isRejected({ lineStatus }: LineAnswer): boolean {
  return lineStatus === 'rejected'
}

/** The items without those that were rejected. */
export function acceptedItems<T extends LineAnswer>(items: readonly T[]): readonly T[] {
  return items.some(isRejected) ? items.filter((item) => !isRejected(item)) : items
}
