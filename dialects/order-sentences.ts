/** Sentences about an order, for answers whose vocabulary has no elements for it: how the order ended, and the seller's notes. */

import { isDeferred } from '../domain/deferred.ts'
import { defined } from '../domain/defined.ts'
import { isActive, mostSummarised, type Order, type OrderItem, type SellerDetails } from '../domain/order.ts'

/**
 * The seller's dates and notes of an order and its lines. Empty for an order that is not parsed here.
 * @param hasDate whether the answer has an element for the expected delivery date of the order
 */
export function sellerLines(order: Order, hasDate: boolean): readonly string[] {
  if (isDeferred(order)) return []
  const { expectedDeliveryDate, sellerNote, items } = order
  const header = detailsText(defined({ expectedDeliveryDate: hasDate ? undefined : expectedDeliveryDate, sellerNote }))
  const lines = items.flatMap((item) => {
    const text = detailsText(item)
    return text === '' ? [] : [`Line ${item.lineId ?? item.line}: ${text}`]
  })
  return [...(header === '' ? [] : [header]), ...lines]
}

function detailsText({ expectedDeliveryDate, sellerNote }: SellerDetails): string {
  const date = expectedDeliveryDate === undefined ? '' : `Expected delivery on ${expectedDeliveryDate.slice(0, 10)}.`
  return [date, sellerNote?.trim() ?? ''].filter((part) => part !== '').join(' ')
}

/** Says that an order was rejected or cancelled, or that its rest was cancelled. Empty for any other order. */
export function endingLines(order: Order): readonly string[] {
  const { status } = order
  if (!isActive(status)) return [`The order is ${status}.`]
  return !isDeferred(order) && order.isRestCancelled ? [restCancelled(order)] : []
}

/** Says what stays of an order that was cancelled after a part of it had been shipped. */
export function restCancelled(order: Order): string {
  const rest = 'Only what was not shipped yet is cancelled. What was shipped stays ordered'
  return isDeferred(order) ? `${rest}.` : `${rest}: ${shipped(order.items)}.`
}

function shipped(items: readonly OrderItem[]): string {
  const named = items.slice(0, mostSummarised).map(({ quantity, productId }) => `${quantity} of ${productId}`)
  const more = items.length - named.length
  return [...named, ...(more > 0 ? [more === 1 ? '1 more line' : `${more} more lines`] : [])].join(', ')
}
