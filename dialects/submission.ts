import type { BuyerReference } from '../domain/buyer-changes.ts'
import type { LineChange } from '../domain/line-changes.ts'
import type { OrderDocument } from '../domain/order.ts'
import type { AnswerBasis, BuyerRequest, CxmlSender } from './buyer-document.ts'

/**
 * The serving thread's knowledge of a document in a buyer's vocabulary, as plain data. The items of the document are in the
 * purchase order that is the request's body. A cancellation has no items.
 */
export interface BuyerSubmission extends BuyerReference {
  readonly kind: BuyerRequest['kind']
  readonly placesUnknown?: true
  /** The document is a copy of another. */
  readonly copies?: true
  /** The change that each item makes, if the kind is `change-lines`. */
  readonly lines?: readonly LineChange[]
  readonly answer: AnswerBasis
  readonly sender?: CxmlSender
  /** The document says that it is only a test. */
  readonly isTest?: true
  /** The document with its secrets masked. Absent: it has none. */
  readonly masked?: Uint8Array
}

/**
 * Whether a document is stored with its order. An OrderChange does not replace the document that the order came from. It is stored
 * only if the order has none, because the order was placed in the shop's own vocabulary.
 * @param last the document of the order
 */
export function replacesDocument(answer: AnswerBasis, last: OrderDocument | undefined): boolean {
  return last === undefined || answer.vocabulary === 'cxml' || answer.document === 'Order'
}
