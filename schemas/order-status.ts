import type { OrderStatus } from '../domain/order.ts'
import type { DetailsDraft, StatusDetails } from '../domain/seller-details.ts'
import type { NamedLine } from '../domain/shipping.ts'
import type { DocumentSchema, ReadingLimits, Report } from './document.ts'
import { childrenOf, collapse, type Element, textOf, tokenOf } from './element.ts'
import { shorten } from './shorten.ts'
import { loadXsd } from './vocabulary.ts'

export const orderStatusXsd = loadXsd('order-status')

export interface StatusDocument extends StatusDetails {
  readonly status: OrderStatus
}

export const orderStatus: DocumentSchema<StatusDocument> = {
  xsd: orderStatusXsd,
  name: 'order-status',
  roots: ['order-status'],
  known: ['status'],
  read(root, report, limits) {
    const items = readLines(root, report, limits, (item, line) => ({ line, ...readDetails(item) }))
    return { status: tokenOf(root, 'status') as OrderStatus, ...readDetails(root), ...(items.length > 0 ? { items } : {}) }
  }
}

function readDetails(parent: Element): DetailsDraft {
  const [expectedDeliveryDate, note] = [tokenOf(parent, 'expected-delivery-date'), textOf(parent, 'note')]
  return { ...(expectedDeliveryDate === undefined ? {} : { expectedDeliveryDate }), ...(note === undefined ? {} : { note }) }
}

/** Reads the items of a document, which name lines of an order. There can be as many as an order can have lines. */
export function readLines<T>(
  root: Element,
  report: Report,
  limits: ReadingLimits,
  read: (item: Element, line: NamedLine) => T
): readonly T[] {
  const items = childrenOf(root, 'item')
  const most = limits.maxOrderItems
  if (items.length > most) {
    report(['item', most + 1], `An order may have ${most} items at most; this document has ${items.length}.`, 'too-many-items')
    return []
  }
  return items.map((item) => read(item, lineNamed(collapse(item.attributes?.['line'] ?? ''))))
}

/** A number that would be rounded stays as it was sent, so that a refusal names it so. */
function lineNamed(text: string): NamedLine {
  const line = Number(text)
  return Number.isSafeInteger(line) ? line : shorten(text)
}
