import { defined } from '../domain/defined.ts'
import type { OrderStatus } from '../domain/order.ts'
import type { DetailsDraft, StatusDetails } from '../domain/seller-details.ts'
import type { NamedLine } from '../domain/shipping.ts'
import type { DocumentSchema } from './document.ts'
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
  identity: 'order',
  hasOrderItems: true,
  read(root) {
    const items = readLines(root, (item, line) => ({ line, ...readDetails(item) }))
    return { status: tokenOf(root, 'status') as OrderStatus, ...readDetails(root), ...(items.length > 0 ? { items } : {}) }
  }
}

function readDetails(parent: Element): DetailsDraft {
  return defined({ expectedDeliveryDate: tokenOf(parent, 'expected-delivery-date'), note: textOf(parent, 'note') })
}

/** Reads the items of a document, which name lines of an order. */
export function readLines<T>(root: Element, read: (item: Element, line: NamedLine) => T): readonly T[] {
  return childrenOf(root, 'item').map((item) => read(item, lineNamed(collapse(item.attributes?.['line'] ?? ''))))
}

/** A number that would be rounded stays text, so that a refusal can quote it as it was sent. */
function lineNamed(text: string): NamedLine {
  const line = Number(text)
  return Number.isSafeInteger(line) ? line : shorten(text)
}
